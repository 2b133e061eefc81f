package e2e

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// In these tests keys are deleted or taken and the holder does not know it.

// The TTL is 6 s. The lease is valid for 5.1 s, and the client renews after a third of that. After a theft just after a
// renewal, the holder learns of it at the next renewal, well before its deadline.
const (
	theftTTL   = 6 * time.Second
	oneRenewal = theftTTL/3 + 1500*time.Millisecond // the rest is slack for a busy machine
)

type theft struct {
	name  string
	nodes []int
	take  func(t *testing.T, srv *redistest.Server, name string)
	lost  bool
}

func deleteBoth(t *testing.T, srv *redistest.Server, name string) {
	srv.MustDo(t, "DEL", name, nodescript.RecordKey(name))
}

func deletePlain(t *testing.T, srv *redistest.Server, name string) { srv.MustDo(t, "DEL", name) }

func deleteRecord(t *testing.T, srv *redistest.Server, name string) {
	srv.MustDo(t, "DEL", nodescript.RecordKey(name))
}

func replacePlain(t *testing.T, srv *redistest.Server, name string) {
	srv.MustDo(t, "SET", name, thief, "PX", 60_000)
}

func replaceBoth(t *testing.T, srv *redistest.Server, name string) {
	srv.MustDo(t, "DEL", nodescript.RecordKey(name))
	replacePlain(t, srv, name)
}

var thefts = []theft{
	{"both keys deleted on all nodes", all(5), deleteBoth, true},
	{"both keys deleted on a majority", []int{0, 2, 4}, deleteBoth, true},
	{"both keys deleted on a minority", []int{1, 3}, deleteBoth, false},
	{"plain key deleted on all nodes", all(5), deletePlain, true},
	{"plain key deleted on a minority", []int{1, 3}, deletePlain, false},
	{"record deleted on all nodes", all(5), deleteRecord, true},
	{"record deleted on a minority", []int{0, 1}, deleteRecord, false},
	{"plain key replaced on all nodes", all(5), replacePlain, true},
	{"plain key replaced on a majority", []int{1, 2, 3}, replacePlain, true},
	{"plain key replaced on a minority", []int{3, 4}, replacePlain, false},
	{"both replaced on all nodes", all(5), replaceBoth, true},
	{"both replaced on a majority", []int{0, 1, 2}, replaceBoth, true},
	{"both replaced on a minority", []int{0, 4}, replaceBoth, false},
}

func TestAStolenLockIsLostWithinOneRenewalAndTheThiefIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	c := s.ready(s.client(calm, func(c *holdfast.Config) { c.MaxTTL = theftTTL }))
	var wait sync.WaitGroup
	defer wait.Wait()
	for _, th := range thefts {
		lease := lock(t, c, th.name)
		// All thefts run at once, because they mostly wait. So no theft may stop the test.
		wait.Go(func() { th.commit(t, s, lease) })
	}
}

func (th theft) commit(t *testing.T, s *set, lease *holdfast.Lease) {
	ctx := t.Context()
	name := lease.Name()
	awaitRenewal(lease)
	for _, i := range th.nodes {
		th.take(t, s.servers[i], name)
	}
	stolen := time.Now()
	taken := s.loot(t, th.nodes, name)
	if th.lost {
		// The first three answers to a renewal may move the deadline. The other two may then end the lease.
		select {
		case <-lease.Context().Done():
		case <-time.After(oneRenewal - time.Since(stolen)):
			t.Errorf("%s: not told within %s", name, oneRenewal)
			return
		}
		if err := context.Cause(lease.Context()); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("%s: the lease's context ended with: %v", name, err)
		}
		if err := lease.Extend(ctx, theftTTL); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("%s: Extend: %v", name, err)
		}
		if err := lease.Unlock(ctx); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("%s: Unlock: %v", name, err)
		}
	} else {
		for range 2 {
			if !awaitRenewal(lease) {
				t.Errorf("%s: the lease ended: %v", name, context.Cause(lease.Context()))
			}
		}
		if taken == nil { // the deleted keys are there again
			for i := range s.servers {
				if r, _ := s.record(i, name); r.Owner != lease.Owner() || s.plain(i, name) != lease.Owner() {
					t.Errorf("%s: node %d has record %+v and plain key %q", name, i, r, s.plain(i, name))
				}
			}
		}
		if err := lease.Unlock(ctx); err != nil {
			t.Errorf("%s: Unlock: %v", name, err)
		}
	}
	redistest.Eventually(t, soon, name+": nothing of ours left", func() bool { return s.ours(name) == "" })
	if after := s.loot(t, th.nodes, name); !slices.Equal(taken, after) {
		t.Errorf("%s: the thief's keys ended at %d, now at %d", name, taken, after)
	}
}

// awaitRenewal returns true when a renewal moves the lease's deadline. It returns false if the lease ends.
func awaitRenewal(lease *holdfast.Lease) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	before := lease.Deadline()
	for lease.Deadline().Sub(before) < 100*time.Millisecond {
		select {
		case <-lease.Context().Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// loot returns the end of the thief's keys, for each node. It returns nil if there are no such keys.
func (s *set) loot(t *testing.T, nodes []int, name string) (at []int64) {
	for _, i := range nodes {
		if s.plain(i, name) == thief {
			ms, _ := s.servers[i].MustDo(t, "PEXPIRETIME", name).(int64)
			at = append(at, ms)
		}
	}
	return at
}

// The worst thief is another client of Holdfast, because its lease must survive the holder's release.
func TestALockThatAnotherTookWhileTheNodesHadForgottenStaysTheOthers(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		a, b := s.ready(s.client(calm)), s.ready(s.client(calm))
		lost := lock(t, a, "x")
		s.each(all(len(s.servers)), func(srv *redistest.Server) { deleteBoth(t, srv, "x") })
		next := lock(t, b, "x") // a's renewal may come first, and then gives the lock up
		<-lost.Context().Done()
		if err := lost.Unlock(t.Context()); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("the robbed holder's Unlock: %v", err)
		}
		for range 2 {
			if !awaitRenewal(next) {
				t.Fatalf("the next holder's lease ended: %v", context.Cause(next.Context()))
			}
		}
		if err := next.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
