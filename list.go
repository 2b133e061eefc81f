package holdfast

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// LockKind tells what a name is used for.
type LockKind string

// Kinds. Elections and jobs are exclusive locks. Their value under the lock shows what they are, so an election is one
// only after its leader has published a value.
const (
	KindExclusive LockKind = "exclusive"
	KindShared    LockKind = "shared"    // readers have it
	KindSemaphore LockKind = "semaphore" // a slot of a semaphore
	KindElection  LockKind = "election"
	KindJob       LockKind = "job"
)

var lockKinds = []LockKind{KindExclusive, KindShared, KindSemaphore, KindElection, KindJob}

// NameStatus is a name in the list of [Client.List], as the nodes saw it when it was listed.
type NameStatus struct {
	Status // Held means nothing if Known is false; of many readers, Holders has ten at most

	Kind LockKind
	Slot int // the slot of a semaphore; -1 for a lock

	// Known is false if too few nodes answered or vote, or if the nodes do not agree enough, to say who has the lock.
	Known bool

	// Waiters is the number of waiting clients that a majority of the nodes has. All slots of a semaphore have the same
	// waiters. WaitingSince is the time at which the first of them came, by the nodes' clocks.
	Waiters      int
	WaitingSince time.Time

	// Differ is true if nodes that vote name different holders, or different tokens. Nodes has their answers. This is
	// usual for a moment while a lock changes its holder, and after a node was down until the next renewal. List asks
	// such nodes twice.
	Differ bool

	at time.Time // the latest clock of the nodes at that moment
}

// List returns all locks and slots of semaphores that somebody has or waits for. Each slot is an item of its own. The
// names have no order.
//
// List reads all keys of the nodes by SCAN, some at a time and at most [ListOptions.Rate] per second. It uses the same
// memory for any number of names. It changes no lock. Like [Client.Status] it asks for votes first.
//
// A lock that is held from the beginning to the end of the list is in it. A lock that is taken or released meanwhile may
// be in it. Each item is what the nodes answered at one moment, and a lock counts as held if a majority says so. A name
// may come twice if nodes lose their memory meanwhile or are added, and more than 65,536 other names came in between.
//
// After an error the list ends. The error matches [ErrUnavailable] if less than a majority of the nodes answered,
// [ErrClosed], or ctx's Err and cause. A bad option is a [*ConfigError]. Locks of other libraries that no client of
// Holdfast ever locked are not in the list.
func (c *Client) List(ctx context.Context, o ListOptions) iter.Seq2[*NameStatus, error] {
	return func(yield func(*NameStatus, error) bool) {
		l, err := c.lister(ctx, o)
		if err == nil {
			l.yield = yield
			err = l.run(ctx)
		}
		if err != nil && err != errStopped {
			yield(nil, fmt.Errorf("holdfast: list: %w", err))
		}
	}
}

func (c *Client) lister(ctx context.Context, o ListOptions) (*lister, error) {
	if c.closed.Load() {
		return nil, ErrClosed
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	matches, err := glob(o.Pattern)
	if err != nil {
		return nil, badField("Pattern", "{Pattern} is %q: %w", o.Pattern, err)
	}
	return newLister(c, o, matches), nil
}

// kindOf returns the kind of an item. value is the beginning of its value.
func kindOf(s *NameStatus, value string) LockKind {
	switch {
	case s.Slot >= 0:
		return KindSemaphore
	case s.Readers > 0 || s.Holder().Shared:
		return KindShared
	case strings.HasPrefix(value, publishedKind):
		return KindElection
	case strings.HasPrefix(value, jobMark):
		return KindJob
	}
	return KindExclusive
}

// jobMark begins the values of package job.
const jobMark = `{"holdfast_job":`

// merge sets the fields of an item from the answers of the nodes. failed has the errors of nodes and of corrupt keys.
func (s *NameStatus) merge(views []*nodescript.Glance, failed []error, addr func(int) string, record string) {
	var counts []int
	s.Nodes, s.WaitingSince = s.Nodes[:0], time.Time{}
	value, majority := "", quorum.Majority(len(views))
	for i, v := range views {
		n := NodeAnswer{Reason: ReasonUnanswered}
		if v != nil {
			n = viewOf(v.View)
			n.forgetful = !v.Votes
			if at := time.UnixMicro(v.Time); at.After(s.at) {
				s.at = at
			}
			if v.Value != "" {
				value = v.Value
			}
			if first := time.UnixMicro(v.First); v.First > 0 && (s.WaitingSince.IsZero() || first.Before(s.WaitingSince)) {
				s.WaitingSince = first
			}
			counts = append(counts, v.Waiters)
		}
		if failed[i] != nil {
			n.failed(failed[i])
		}
		n.Node = addr(i)
		s.Nodes = append(s.Nodes, n.about(record))
	}
	slices.Sort(counts)
	if s.Waiters = 0; len(counts) >= majority {
		s.Waiters = counts[len(counts)-majority]
	}
	if s.Waiters == 0 {
		s.WaitingSince = time.Time{}
	}
	s.Readers = 0
	s.Known = s.judge()
	for i := range s.Holders {
		s.Holders[i].Slot = max(s.Slot, 0)
	}
	s.Kind, s.Differ = kindOf(s, value), s.differs()
}

// differs reports whether nodes that vote name different holders or tokens.
func (s *NameStatus) differs() bool {
	first, found := "", false
	for _, n := range s.Nodes {
		if n.Err != nil && n.Reason != ReasonCorrupt || n.forgetful || n.Reason == ReasonUnanswered {
			continue
		}
		said := n.Reason.String()
		for _, h := range n.holders() {
			said += fmt.Sprintf("\n%q %d", h.Owner, h.Fence)
		}
		if found && said != first {
			return true
		}
		first, found = said, true
	}
	return false
}
