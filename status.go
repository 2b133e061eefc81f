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

// Status describes the holder of a lock, as the nodes see it.
type Status struct {
	Name string

	// Held is true if a majority of the nodes names the same holder. If it is false and Status returned an error, the
	// holder is unknown.
	Held bool

	// Readers is the number of readers that have the lock. It is 0 if nobody has it shared.
	Readers int

	// Slots is the number of slots of a semaphore, as the caller of [Client.Semaphore] gave it. It is 0 for a lock.
	Slots int

	// Holders are the holders of the lock: one for an exclusive lock, and up to 100 readers of a shared one, the lowest
	// token first. It is empty if Held is false.
	Holders []Holder

	// Nodes has the answer of each node, in the order of Config.Nodes: free, held, offered, or the reason why the node
	// could not be asked.
	Nodes []NodeAnswer
}

// Holder returns the first of Holders. It returns a zero Holder if there is none.
func (s *Status) Holder() Holder { return firstOf(s.Holders) }

// Status returns the holder of the lock with this name. It changes no lock, and it asks all nodes, also those that do
// not vote.
//
// A node that does not vote may have forgotten the holder, for example after a restart. If such a node stores no
// holder, its answer has [ReasonFreeNoVote] and counts as unknown. So Status says that a lock is free only if a majority
// of the nodes vote and do not name a holder together. If votes are missing, Status asks for them as [Admin.Nodes] does:
// this starts the quarantine of a node that no client has met before.
//
// The error matches [ErrUnavailable] if too little is known. Either less than a majority of the nodes answered and
// vote, or the others could complete a majority for a holder that a node names. The Status then has the answers of all
// nodes. Held is false then, and means nothing. If ctx has ended by then, the error also matches ctx's Err and cause.
func (c *Client) Status(ctx context.Context, name string) (*Status, error) {
	m := c.Mutex(name)
	if err := checkName(m.lock.Name()); err != nil {
		return nil, m.prefix(err)
	}
	if c.closed.Load() {
		return nil, m.prefix(ErrClosed)
	}
	s := c.inspect(ctx, name, m.lock)
	if !s.judge() && slices.ContainsFunc(s.Nodes, func(n NodeAnswer) bool { return n.forgetful }) {
		// The guard of an idle node has expired, and the node votes again if somebody asks.
		votes := c.standings(c.fan.AskVotes(ctx))
		s = c.inspect(ctx, name, m.lock)
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

// inspect returns what the nodes store about a lock. Its Held is not set.
func (c *Client) inspect(ctx context.Context, name string, l *kind.Exclusive) *Status {
	views, errs := c.fan.Inspect(ctx, l.Lock())
	s := &Status{Name: name}
	for i, v := range views {
		n := viewOf(v)
		if n.forgetful = errs[i] == nil && !v.Votes; errs[i] != nil {
			n.failed(errs[i])
		}
		n.Node = c.fan.Addr(i)
		s.Nodes = append(s.Nodes, n.about(nodescript.RecordKey(l.Name())))
	}
	return s
}

// judge sets the holder. It reports false if the nodes that answered do not decide who holds the lock. A node that does
// not vote counts for the holder that it names, and as unknown for all others.
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

// holders returns the holders that the node names, each with its own facts: one, or all readers.
func (n NodeAnswer) holders() []NodeAnswer {
	switch {
	case n.Err != nil || !n.Held():
		return nil
	case n.readers != nil:
		return n.readers
	}
	return []NodeAnswer{n}
}

// count orders the readers and counts them. A node lists only some of many readers.
func (s *Status) count(majority int) {
	slices.SortStableFunc(s.Holders, func(a, b Holder) int { return cmp.Compare(a.Fence, b.Fence) })
	if !s.Holder().Shared || s.Holder().Offered {
		return
	}
	s.Readers = len(s.Holders)
	counts := make([]int, len(s.Nodes))
	for i, n := range s.Nodes {
		counts[i] = n.Readers
	}
	slices.Sort(counts)
	if most := counts[len(counts)-majority]; most > nodescript.MostListed {
		s.Readers = max(s.Readers, most)
	}
}

// holder returns the facts of the nodes about an owner that a majority names. Some nodes may still have a claim of the
// owner. The owner has a lease if a majority says so.
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

// viewOf returns the public answer for a node's view of a lock.
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

// readersOf returns the public answer of a node that has readers. Claims come last. If there are only claims, the lock is
// offered to their owners.
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
