package holdfast

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/kind"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Status describes the holders of a lock, by the answers of the nodes.
type Status struct {
	Name string

	// Held is true if a majority of the nodes names the same holder. If Status also returned an error, a false Held
	// means nothing: the holder is then unknown.
	Held bool

	// Readers is the number of readers that have the lock. It is 0 if nobody has it shared.
	Readers int

	// Slots is the number of slots that the caller of [Client.Semaphore] gave. It is 0 for a lock.
	Slots int

	// Holders has one holder for an exclusive lock, and up to 100 readers for a shared one, sorted by token.
	// Readers that have only a claim come last. It is empty if Held is false.
	Holders []Holder

	// Nodes has the answer of each node, in the order of Config.Nodes: free, held, offered to a waiter, or the reason
	// why the node gave no answer.
	Nodes []NodeAnswer
}

// Holder returns the first of Holders. It returns a zero Holder if there is none.
func (s *Status) Holder() Holder { return firstOf(s.Holders) }

// Status returns the holder of the lock with this name. It changes no lock. It also asks nodes that do not vote.
//
// A node that does not vote may have forgotten the holder, for example after a restart. If such a node stores no
// holder, its answer has [ReasonFreeNoVote] and counts as unknown. Status calls a lock free only if a majority of the
// nodes vote and no holder can have a majority.
//
// If a node votes under other settings than the client's, for example in a set with another number of nodes, its answer
// has [ReasonMisconfigured] and counts as unknown.
//
// If votes are missing, Status asks the nodes for them as [Admin.Nodes] does. This begins the quarantine of a node
// that no client has met before.
//
// The error matches [ErrUnavailable] if too few answers are known. Either less than a majority of the nodes answered
// and vote, or a holder that some nodes name may have a majority together with the nodes that are unknown. The Status
// then has the answers of all nodes, and its Held means nothing. If ctx has ended, the error also matches ctx's Err
// and cause.
func (c *Client) Status(ctx context.Context, name string) (*Status, error) {
	m := c.Mutex(name)
	if err := checkName(m.lock.Name()); err != nil {
		return nil, m.prefix(err)
	}
	if c.closed.Load() {
		return nil, m.prefix(ErrClosed)
	}
	var s *Status
	strange := c.lookAt(ctx, func() { s = c.inspect(ctx, name, m.lock) })
	s.leaveOut(strange)
	if !s.judge() && slices.ContainsFunc(s.Nodes, func(n NodeAnswer) bool { return n.forgetful }) {
		// A node that nobody used for a while has no guard any more and does not vote. It votes again after a client
		// asks for its vote.
		votes := c.standings(c.fan.AskVotes(ctx))
		s = c.inspect(ctx, name, m.lock)
		s.leaveOut(strange)
		for i := range s.Nodes {
			if n := &s.Nodes[i]; n.Reason == ReasonFreeNoVote {
				n.Cause, n.VotesIn = votes[i].Cause, votes[i].VotesIn
			}
		}
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

// inspect returns the nodes' records of a lock. The caller must still call judge, which sets Held and Holders.
func (c *Client) inspect(ctx context.Context, name string, l *kind.Exclusive) *Status {
	views, errs := c.fan.Inspect(ctx, l.Lock())
	s := &Status{Name: name}
	for i, v := range views {
		n := viewOf(v)
		if n.forgetful = errs[i] == nil && !v.Votes; errs[i] != nil {
			n.failed(errs[i])
		}
		n.Node, n.met = c.fan.Addr(i), c.fan.Answered(i)
		s.Nodes = append(s.Nodes, n.about(nodescript.RecordKey(l.Name())))
	}
	return s
}

// leaveOut replaces the answers of nodes with other settings: see lookAt.
func (s *Status) leaveOut(strange []*NodeAnswer) {
	for i, n := range strange {
		if n != nil {
			s.Nodes[i] = *n
		}
	}
}

// judge sets Held and Holders. It returns false if the answers do not decide who holds the lock. A node that does not
// vote counts for the holder that it names. For all other holders it counts as unknown.
func (s *Status) judge() (known bool) {
	named, sure, unknown := map[string]int{}, map[string]int{}, 0
	majority := quorum.Majority(len(s.Nodes))
	s.Held, s.Holders = false, nil
	for _, n := range s.Nodes {
		if n.Err != nil || n.forgetful {
			unknown++
		}
		for _, h := range n.holders() {
			if !n.forgetful {
				sure[h.Owner]++
			}
			if named[h.Owner]++; named[h.Owner] == majority {
				s.Held = true
				s.Holders = append(s.Holders, s.holder(h.Owner, majority))
			}
		}
	}
	s.count(majority)
	most := 0
	for _, n := range sure {
		most = max(most, n)
	}
	return s.Held || len(s.Nodes)-unknown >= majority && most+unknown < majority
}

// holders returns the holders that one node names: one, or all readers that it lists.
func (n NodeAnswer) holders() []NodeAnswer {
	switch {
	case n.Err != nil || !n.Held():
		return nil
	case n.readers != nil:
		return n.readers
	}
	return []NodeAnswer{n}
}

// count sorts the readers and counts them. Readers that have only a claim come last, and do not count. If there are
// many readers, a node lists only some of them and states their number.
func (s *Status) count(majority int) {
	slices.SortStableFunc(s.Holders, func(a, b Holder) int {
		switch {
		case a.Offered == b.Offered:
			return cmp.Compare(a.Fence, b.Fence)
		case b.Offered:
			return -1
		}
		return 1
	})
	if !s.Holder().Shared || s.Holder().Offered {
		return
	}
	s.Readers = 0
	for _, h := range s.Holders {
		if !h.Offered {
			s.Readers++
		}
	}
	counts := make([]int, len(s.Nodes))
	for i, n := range s.Nodes {
		counts[i] = n.Readers
	}
	slices.Sort(counts)
	if most := counts[len(counts)-majority]; most > nodescript.MostListed {
		s.Readers = max(s.Readers, most)
	}
}

// holder returns what the nodes say about an owner that a majority names. Some nodes may have a lease of this owner,
// and others only a claim. The owner has the lock if a majority has its lease.
func (s *Status) holder(owner string, majority int) Holder {
	h, leases, fence := Holder{Owner: owner}, 0, int64(0)
	for _, n := range s.Nodes {
		i := slices.IndexFunc(n.holders(), func(h NodeAnswer) bool { return h.Owner == owner })
		if i < 0 {
			continue
		}
		n = n.holders()[i]
		h.Foreign = h.Foreign || n.Foreign
		if n.Fence != 0 {
			leases++
			fence = max(fence, n.Fence)
		}
		if n.Until.After(h.Until) {
			h.Until = n.Until
		}
	}
	as := holderOf(owner, h.Foreign)
	h.Left, h.Shared = as.Left, as.Shared
	h.Offered = !h.Foreign && leases < majority
	if leases >= majority {
		h.Fence, h.Since = fence, time.UnixMicro(fence)
	}
	return h
}

// viewOf makes the public answer from the data that a node stores about a lock.
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
	case len(v.Readers.List) > 0:
		return readersOf(v.Readers)
	}
	if !v.Votes {
		return NodeAnswer{Reason: ReasonFreeNoVote}
	}
	return NodeAnswer{Reason: ReasonFree}
}

// readersOf makes the public answer of a node that stores readers. In the list, claims come after leases. If there
// are only claims, the lock is not held yet but offered to their owners.
func readersOf(r nodescript.Readers) NodeAnswer {
	var all []NodeAnswer
	for _, one := range r.List {
		n := NodeAnswer{Reason: ReasonHeld, Owner: one.Owner, Fence: one.Token, Until: time.UnixMicro(one.Expiry)}
		if n.Fence == 0 {
			n.Reason = ReasonOffered
		}
		all = append(all, n)
	}
	first := all[0]
	first.readers = all
	if first.Fence != 0 {
		first.Readers = r.Count - len(slices.DeleteFunc(slices.Clone(all), func(n NodeAnswer) bool { return n.Fence != 0 }))
	}
	for _, n := range all {
		if n.Until.After(first.Until) {
			first.Until = n.Until
		}
	}
	return first
}
