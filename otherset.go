package holdfast

import (
	"context"
	"sync"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/verdict"
)

// This file finds nodes that vote under other settings than this client's, for example in a set with another number of
// nodes. A look must not use what they store. With one node of a set of three, a held lock would seem free.

// lookAt runs look, which asks the nodes about locks. At the same time it asks for their settings. It returns the
// answers of nodes whose settings differ from this client's, by node; the other elements are nil.
func (c *Client) lookAt(ctx context.Context, look func()) (strange []*verdict.Answer) {
	var asks sync.WaitGroup
	asks.Go(func() { strange = c.strange(ctx) })
	look()
	asks.Wait()
	return strange
}

// strange returns the answers of nodes that vote under other settings, by node; the other elements are nil. It asks the
// nodes only if this client does not have all votes. It only reads, so a client without the right to lock can call it.
func (c *Client) strange(ctx context.Context) []*verdict.Answer {
	out, met := make([]*verdict.Answer, c.fan.N()), true
	for i := range c.fan.N() {
		met = met && c.fan.Votes(i)
	}
	if met {
		return out
	}
	configs, errs := c.fan.Configurations(ctx)
	for i, config := range configs {
		if errs[i] != nil || config == "" || config == c.fan.Set().String() {
			continue
		}
		a := nodescript.Answer{Verdict: nodescript.Misconfigured, Cause: nodescript.OtherSettings, Evidence: &nodescript.Evidence{Value: config}}
		offset, _ := c.fan.Offset(i)
		n := c.said.Of(i, a, offset)
		n.Unsure = true // it counts as unknown
		out[i] = &n
	}
	return out
}
