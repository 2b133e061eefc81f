package holdfast

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// This file finds nodes that vote under other settings than this client's, for example in a set with another number of
// nodes. A look must not use what they store. With one node of a set of three, a held lock would seem free.

// othersets returns the answers of nodes that vote under other settings, by node; the other elements are nil. It returns
// nil if there is no such node. It asks the nodes only if this client does not have all votes. It only reads, so a
// client without the right to lock can call it.
func (c *Client) othersets(ctx context.Context) []*NodeAnswer {
	met := true
	for i := range c.fan.N() {
		met = met && c.fan.Votes(i)
	}
	if met {
		return nil
	}
	var out []*NodeAnswer
	configs, errs := c.fan.Configurations(ctx)
	for i, config := range configs {
		if errs[i] != nil || config == "" || config == c.fan.Set().String() {
			continue
		}
		if out == nil {
			out = make([]*NodeAnswer, c.fan.N())
		}
		a := nodescript.Answer{Verdict: nodescript.Misconfigured, Cause: nodescript.OtherSettings, Evidence: &nodescript.Evidence{Value: config}}
		offset, _ := c.fan.Offset(i)
		n := c.answer(i, a, offset)
		n.forgetful = true // it counts as unknown
		out[i] = &n
	}
	return out
}

// checkSet returns an error if too many nodes have other settings than this client, so that no majority is left.
func (c *Client) checkSet(ctx context.Context) error {
	others, left := c.othersets(ctx), c.fan.N()
	for _, n := range others {
		if n != nil {
			left--
		}
	}
	if left >= quorum.Majority(c.fan.N()) {
		return nil
	}
	un := &UnavailableError{}
	for i := range c.fan.N() {
		n := NodeAnswer{Node: c.fan.Addr(i), Reason: ReasonUnanswered}
		if others[i] != nil {
			n = *others[i]
		}
		un.Nodes = append(un.Nodes, n)
	}
	return un
}
