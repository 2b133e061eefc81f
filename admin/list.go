package admin

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/internal/inside"
	"github.com/holdfast-go/holdfast/verdict"
)

// Kind tells what a name is used for.
type Kind string

// Kinds. An election and a job are locks with a value that shows their kind. So the name of an election has
// this kind only after its leader has published a value.
const (
	KindLock      Kind = "lock"      // one holder has it
	KindShared    Kind = "shared"    // readers have it
	KindSemaphore Kind = "semaphore" // a slot of a semaphore
	KindElection  Kind = "election"
	KindJob       Kind = "job"
)

var lockKinds = []Kind{KindLock, KindShared, KindSemaphore, KindElection, KindJob}

// NameStatus is one lock or slot in the list of [List], as the nodes answered about it.
type NameStatus struct {
	holdfast.Status // if Known is false, ignore Held; of many readers, Holders has ten at most

	Kind Kind
	Slot int // the slot of a semaphore; -1 for a lock

	// Known is true if the answers of the nodes identify the holder. It is false if too few nodes vote or have sound
	// keys, or if their answers differ too much.
	Known bool

	// Waiters is the number of waiting clients: at least so many wait on each node of a majority. All slots of a
	// semaphore have the same waiters. WaitingSince is the time at which the first of them came, by the nodes'
	// clocks.
	Waiters      int
	WaitingSince time.Time

	// Differ is true if two voting nodes name different holders or tokens. Nodes has all answers. This is usual for a
	// moment while a lock changes its holder. It is also usual after a node was down, until the next renewal. List
	// asks such nodes a second time before it returns the name.
	Differ bool

	at time.Time // the middle clock of the nodes that answered: a minority of the clocks may be wrong
}

// List returns all locks and slots of semaphores that somebody has or waits for. Each slot is a separate item. The
// items are not sorted.
//
// List reads all keys of the nodes by SCAN, a page at a time. It sends small requests, evenly spread over time: at most
// [ListOptions.Rate] per second to each node. Its memory does not grow with the number of names. List changes no lock.
// Like [holdfast.Client.Status] it first asks the nodes whether they vote.
//
// The list contains each lock that is held for the whole time of the list. A lock that is taken or released during
// the list may be missing. The answers of an item come from one moment, and a lock counts as held if a majority says
// so. In one case a name comes twice: nodes lose their memory or are added during the list, and more than 65,536
// other names come in between.
//
// An error ends the list. If a shard of a Redis Cluster or a node set of [holdfast.Sharded] fails, the locks of the others
// come before the error. The error matches [holdfast.ErrUnavailable] if less than a majority of the nodes answered; a
// node with other settings counts as missing. It matches [holdfast.ErrClosed], or ctx's Err and cause if ctx has ended.
// For a bad option it is a [*holdfast.ConfigError]. The list does not contain locks of other libraries whose name no
// client of Holdfast has used.
func List(ctx context.Context, client *holdfast.Client, o ListOptions) iter.Seq2[*NameStatus, error] {
	return func(yield func(*NameStatus, error) bool) {
		all, err := listersOf(ctx, inside.Of(client), o)
		for i := 0; i < len(all) && (i == 0 || ctx.Err() == nil) && err != errStopped; i++ {
			all[i].yield, all[i].listed = yield, all[0].listed
			if failed := all[i].run(ctx); failed == errStopped {
				err = failed
			} else {
				err = cmp.Or(err, failed)
			}
		}
		if err != nil && err != errStopped {
			yield(nil, fmt.Errorf("holdfast: list: %w", err))
		}
	}
}

// listersOf returns a lister for each node set.
func listersOf(ctx context.Context, in *inside.Client, o ListOptions) (all []*lister, err error) {
	switch {
	case ctx == nil:
		return nil, errNoContext
	case in.Closed():
		return nil, holdfast.ErrClosed
	}
	if o, err = o.withDefaults(); err != nil {
		return nil, err
	}
	matches, err := glob(o.Pattern)
	if err != nil {
		return nil, inside.BadField("Pattern", "{Pattern} is %q: %w", o.Pattern, err)
	}
	sets, err := in.Sets(ctx)
	for _, set := range sets {
		all = append(all, newLister(in, set, o, matches))
	}
	return all, err
}

// kindOf returns the kind of an item. value is the beginning of the value under its lock.
func kindOf(s *NameStatus, value string) Kind {
	switch {
	case s.Slot >= 0:
		return KindSemaphore
	case s.Readers > 0 || s.Holder().Shared:
		return KindShared
	case strings.HasPrefix(value, inside.ElectionMark):
		return KindElection
	case strings.HasPrefix(value, jobMark):
		return KindJob
	}
	return KindLock
}

// jobMark is the beginning of the values that package job stores.
const jobMark = `{"holdfast_job":`

// merge sets the fields of an item from the answers of the nodes: views has what each node stores, and failed the
// error of a node that did not answer or whose key is corrupt. said names the nodes, and record is the key of the
// record.
func (s *NameStatus) merge(views []*nodescript.Glance, failed []error, said answers.Source, record string) {
	var counts []int
	var clocks []int64
	s.Nodes, s.WaitingSince = s.Nodes[:0], time.Time{}
	value, majority := "", quorum.Majority(len(views))
	for i, v := range views {
		n := verdict.Answer{Reason: verdict.ReasonUnanswered}
		if v != nil {
			n = answers.View(v.View)
			n.Unsure = !v.Votes
			clocks = append(clocks, v.Time)
			if v.Value != "" {
				value = v.Value
			}
			if first := time.UnixMicro(v.First); v.First > 0 && (s.WaitingSince.IsZero() || first.Before(s.WaitingSince)) {
				s.WaitingSince = first
			}
			counts = append(counts, v.Waiters)
		}
		if failed[i] != nil {
			said.Fail(&n, failed[i])
		}
		said.Name(&n, i)
		s.Nodes = append(s.Nodes, answers.About(n, record))
	}
	slices.Sort(clocks)
	if s.at = (time.Time{}); len(clocks) > 0 {
		s.at = time.UnixMicro(clocks[(len(clocks)-1)/2])
	}
	slices.Sort(counts)
	if s.Waiters = 0; len(counts) >= majority {
		s.Waiters = counts[len(counts)-majority]
	}
	if s.Waiters == 0 {
		s.WaitingSince = time.Time{}
	}
	j := verdict.Judge(s.Nodes)
	s.Known, s.Held, s.Holders, s.Readers = j.Known, j.Held, j.Holders, j.Readers
	for i := range s.Holders {
		s.Holders[i].Slot = max(s.Slot, 0)
	}
	s.Kind, s.Differ = kindOf(s, value), s.differs()
}

// differs reports whether two voting nodes name different holders or tokens.
func (s *NameStatus) differs() bool {
	first, found := "", false
	for _, n := range s.Nodes {
		if n.Err != nil && n.Reason != verdict.ReasonCorrupt || n.Unsure || n.Reason == verdict.ReasonUnanswered {
			continue
		}
		said := n.Reason.String()
		for _, h := range n.Holders() {
			said += fmt.Sprintf("\n%q %d", h.Owner, h.Fence)
		}
		if found && said != first {
			return true
		}
		first, found = said, true
	}
	return false
}
