package holdfast

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/verdict"
)

// Admin has the calls of an operator. Most of them concern the nodes; [Admin.Unlock] takes a lock away from its
// holder.
type Admin struct{ client *Client }

// Admin returns the operator's calls of this client. It does not use the network.
func (c *Client) Admin() *Admin { return &Admin{c} }

// Nodes asks every node whether it votes. It returns the answers in the order of [Config.Nodes].
//
// Nodes changes no lock. A node that no client has asked before begins its quarantine with this call.
func (a *Admin) Nodes(ctx context.Context) []verdict.Answer {
	return a.client.standings(a.client.fan.AskVotes(ctx))
}

// Trust leaves a voucher on each node. A voucher is an operator's statement that no lock is alive on the node, for
// example because the server is new. The node then votes after 9 × Window, and not only after MaxTTL + Window. Trust
// returns the state of each node afterwards.
//
// After a false voucher two owners can hold one lock: the node may have forgotten a lock, and grants it again.
//
// Trust also gives this client's configuration to the nodes. From then on the nodes refuse clients with another
// configuration, and those clients lose their locks.
//
// seen is the result of [Admin.Nodes] on which the operator decided. Trust gives no voucher to a node that lost its
// memory after that result, because a lock may have been alive at that loss. If seen is empty, Trust gives a voucher
// to every node in its present state.
func (a *Admin) Trust(ctx context.Context, seen ...verdict.Answer) []verdict.Answer {
	c := a.client
	losses := map[string]string{}
	for _, s := range seen {
		losses[s.Node] = s.Loss
	}
	errs := c.fan.Trust(ctx, func(i int, loss string) bool {
		was, known := losses[c.fan.Addr(i)]
		return len(seen) == 0 || known && was == loss
	})
	s := c.standings(c.fan.AskVotes(ctx))
	for i, err := range errs {
		if err != nil && !s[i].Votes() {
			answers.Fail(&s[i], err)
		}
	}
	return s
}

func (c *Client) standings(said []nodescript.Answer) []verdict.Answer {
	out := make([]verdict.Answer, len(said))
	for i, a := range said {
		offset, known := c.fan.Offset(i)
		n := voteOf(c.said.Of(i, a, offset))
		n.OffsetKnown = known
		n.RunID, n.Version = c.fan.Incarnation(i)
		n.Loss = c.fan.Loss(i)
		out[i] = n
	}
	return out
}
