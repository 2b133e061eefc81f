package holdfast

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Status describes the holder of a lock, as the nodes see it.
type Status struct {
	Name string

	// Held is true if a majority of the nodes names the same holder. If it is false and Status returned an error, the
	// holder is unknown.
	Held bool

	// Slots is the number of slots of a semaphore, as the caller of [Client.Semaphore] gave it. It is 0 for a lock.
	Slots int

	// Holders are the holders of the lock: one for an exclusive lock. It is empty if Held is false.
	Holders []Holder

	// Nodes has what each node stores, in the order of Config.Nodes: free, held, offered, or why the node could not be
	// asked.
	Nodes []NodeAnswer
}

// Holder returns the first of Holders. It returns a zero Holder if there is none.
func (s *Status) Holder() Holder { return firstOf(s.Holders) }

// Status returns the holder of the lock with this name. It changes nothing, and it asks all nodes, also those that do
// not vote.
//
// The error matches [ErrUnavailable] if too few nodes answered: less than a majority, or so few that the silent nodes
// could complete a majority for a holder that another node names. The Status then has the answers of the other nodes.
// If ctx has ended by then, the error also matches ctx's Err and cause.
func (c *Client) Status(ctx context.Context, name string) (*Status, error) {
	m := c.Mutex(name)
	if err := checkName(m.lock.Name()); err != nil {
		return nil, m.prefix(err)
	}
	if c.closed.Load() {
		return nil, m.prefix(ErrClosed)
	}
	views, errs := c.fan.Inspect(ctx, m.lock.Lock())
	s := &Status{Name: name}
	for i, v := range views {
		n := viewOf(v)
		if errs[i] != nil {
			n.failed(errs[i])
		}
		n.Node = c.fan.Addr(i)
		s.Nodes = append(s.Nodes, n.about(m.lock.Name()))
	}
	if s.judge() {
		return s, nil
	}
	un := &UnavailableError{Name: name, Nodes: slices.Clone(s.Nodes)}
	if ctx.Err() != nil {
		return s, m.prefix(ended(ctx, un))
	}
	return s, m.prefix(un)
}

// judge sets the holder. It reports false if the nodes that answered do not decide who holds the lock.
func (s *Status) judge() (known bool) {
	count, most, silent := map[string]int{}, 0, 0
	majority := quorum.Majority(len(s.Nodes))
	for _, n := range s.Nodes {
		switch {
		case n.Err != nil:
			silent++
			continue
		case !n.Held():
			continue
		}
		count[n.Owner]++
		most = max(most, count[n.Owner])
		if count[n.Owner] >= majority {
			s.Held = true
			s.Holders = []Holder{s.holder(n.Owner, majority)}
		}
	}
	return s.Held || len(s.Nodes)-silent >= majority && most+silent < majority
}

// holder returns what the nodes say about an owner that a majority names. Some nodes may still have a claim of the
// owner. The owner has a lease if a majority says so.
func (s *Status) holder(owner string, majority int) Holder {
	h, leases, fence := Holder{Owner: owner}, 0, int64(0)
	for _, n := range s.Nodes {
		if n.Err != nil || !n.Held() || n.Owner != owner {
			continue
		}
		h.Foreign = h.Foreign || n.Foreign
		if n.Fence != 0 {
			leases++
			fence = max(fence, n.Fence)
		}
		if n.Until.After(h.Until) {
			h.Until = n.Until
		}
	}
	h.Left = !h.Foreign && nodescript.HasLeft(owner)
	h.Offered = !h.Foreign && leases < majority
	if leases >= majority {
		h.Fence, h.Since = fence, time.UnixMicro(fence)
	}
	return h
}

// viewOf returns the answer for what a node stores.
func viewOf(v nodescript.View) NodeAnswer {
	switch {
	case v.Live() && (v.Kind == '-' || v.Plain == v.Record.Owner):
		n := NodeAnswer{Reason: ReasonHeld, Owner: v.Record.Owner, Fence: v.Record.Token, Until: time.UnixMicro(v.Record.Expiry)}
		if n.Fence == 0 {
			n.Reason = ReasonOffered
		}
		return n
	case v.Foreign() && (v.Live() || v.Record.Owner == "" || v.Plain != v.Record.Owner):
		n := NodeAnswer{Reason: ReasonHeld, Foreign: true, Owner: v.Plain}
		if v.Left != nodescript.Forever {
			n.Until = time.UnixMicro(v.Time).Add(v.Left)
		}
		return n
	}
	return NodeAnswer{Reason: ReasonFree}
}
