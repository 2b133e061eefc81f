package holdfast

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Admin has the calls of an operator: about the nodes, and not about one lock.
type Admin struct{ client *Client }

// Admin returns the operator's calls. It does not use the network.
func (c *Client) Admin() *Admin { return &Admin{c} }

// Nodes asks every node for its vote, as a lock would. It returns the state of each node, in the order of
// [Config.Nodes]. It starts the quarantine of a node that no client has met before.
func (a *Admin) Nodes(ctx context.Context) []NodeAnswer {
	return a.client.standings(a.client.fan.AskVotes(ctx))
}

// Trust leaves an operator's voucher on the nodes. The voucher states that no lock is alive on them, for example
// because they are new. They then vote after 9 × Window instead of MaxTTL + Window. Trust returns the state of each
// node afterwards.
//
// Trust also gives this client's configuration to the nodes. From then on the nodes refuse clients with another
// configuration, and those clients lose their locks. After a false voucher two owners can hold one lock.
//
// seen is the result of [Admin.Nodes] on which the operator decided. A node that has lost its memory since then gets no
// voucher, because a lock may have been alive at that loss. Without seen, Trust vouches for the present state.
func (a *Admin) Trust(ctx context.Context, seen ...NodeAnswer) []NodeAnswer {
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
			s[i].failed(err)
		}
	}
	return s
}

func (c *Client) standings(answers []nodescript.Answer) []NodeAnswer {
	out := make([]NodeAnswer, len(answers))
	for i, a := range answers {
		offset, known := c.fan.Offset(i)
		n := c.answer(i, a, offset)
		if n.Reason == ReasonDone {
			n.Reason = ReasonVotes
		}
		n.OffsetKnown = known
		n.RunID, n.Version = c.fan.Incarnation(i)
		n.Loss = c.fan.Loss(i)
		out[i] = n
	}
	return out
}
