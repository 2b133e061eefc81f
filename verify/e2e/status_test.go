package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// The answers of a majority do not prove that a lock is free, because a silent node may have the vote that makes a
// holder.
func TestStatusTakesNoSilenceForFreedom(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	// No renewal comes during the test.
	c := s.ready(s.client(slow, func(c *holdfast.Config) { c.MaxTTL, c.TTL = time.Minute, time.Minute }))
	lease := lock(t, c, "x")
	defer lease.Unlock(t.Context())
	redistest.Eventually(t, 5*time.Second, "the lease on all nodes", func() bool {
		return s.plain(0, "x") == lease.Owner() && s.plain(1, "x") == lease.Owner() && s.plain(2, "x") == lease.Owner()
	})
	s.servers[2].Freeze()
	if st, err := c.Status(t.Context(), "x"); err != nil || !st.Held || st.Holder().Owner != lease.Owner() {
		t.Errorf("with a node of three frozen: %+v, %v; want that it is held", st, err)
	}
	s.servers[1].MustDo(t, "DEL", "x", "{x}:holdfast")
	st, err := c.Status(t.Context(), "x")
	if !errors.Is(err, holdfast.ErrUnavailable) || st.Held {
		t.Errorf("one node frozen, one without it: %+v, %v; want ErrUnavailable", st, err)
	}
	for _, said := range []string{": held by " + verdict.Holder{Owner: lease.Owner()}.String(), ": free", ": timed out"} {
		if err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%v; want that a node says %q", err, said)
		}
	}
	if st, err := c.Status(t.Context(), "y"); err != nil || st.Held {
		t.Errorf("a name that nobody locked: %+v, %v; want that it is free", st, err)
	}
	s.servers[2].Thaw()
	if st, err := c.Status(t.Context(), "x"); err != nil || !st.Held || st.Holder().Owner != lease.Owner() {
		t.Errorf("with the frozen one back: %+v, %v; want that it is held", st, err)
	}
}

// A node that may have forgotten a lock is no witness that the lock is free.
func TestStatusTakesNoForgetfulNodeForFreedom(t *testing.T) {
	t.Parallel()
	long := func(c *holdfast.Config) { c.MaxTTL, c.TTL = time.Minute, time.Minute } // no renewal meanwhile
	for name, row := range map[string]struct {
		nodes  int
		forget func(*set)
		gone   int // nodes without memory
	}{
		"one node, restarted": {1, func(s *set) { s.servers[0].Restart() }, 1},
		"two of three flushed": {3, func(s *set) {
			s.each([]int{0, 1}, func(srv *redistest.Server) { srv.MustDo(t, "FLUSHALL") })
		}, 2},
		"two of three restarted": {3, func(s *set) {
			s.each([]int{0, 1}, func(srv *redistest.Server) { srv.Restart() })
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, row.nodes)
			lease := lock(t, s.ready(s.client(slow, long)), "x")
			redistest.Eventually(t, 5*time.Second, "the lease on all nodes", func() bool {
				for i := range row.nodes {
					if s.plain(i, "x") != lease.Owner() {
						return false
					}
				}
				return true
			})
			row.forget(s)
			other := s.client(slow, long)
			for range 2 { // the second time the nodes are in quarantine
				st, err := other.Status(t.Context(), "x")
				if lease.Context().Err() != nil || time.Now().After(lease.Deadline()) {
					t.Fatal("the lease has ended; the test shows nothing")
				}
				if !errors.Is(err, holdfast.ErrUnavailable) || st == nil || st.Held {
					t.Fatalf("%+v, %v; want ErrUnavailable", st, err)
				}
				unsure := 0
				for _, n := range st.Nodes {
					if n.Reason == verdict.ReasonFreeNoVote && n.Said() == "free (does not vote: it may have forgotten)" && n.VotesIn > 0 {
						unsure++
					}
				}
				if unsure != row.gone {
					t.Errorf("%d nodes say that they may have forgotten, want %d: %v", unsure, row.gone, err)
				}
			}
		})
	}
}

// The guard of an idle node expires. Its records are still complete, and Status has it admitted again.
func TestStatusKnowsWhatIsFreeOnIdleNodes(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3, redistest.WithClock())
	for _, row := range []struct {
		when   string
		happen func(*redistest.Server)
	}{
		{"that no client has met", func(*redistest.Server) {}},
		{"after 61 idle minutes", func(srv *redistest.Server) { srv.Step(61 * time.Minute) }},
		{"after 3 idle hours", func(srv *redistest.Server) { srv.Step(3 * time.Hour) }},
	} {
		s.each(all(3), row.happen)
		if st, err := s.client().Status(t.Context(), "x"); err != nil || st.Held {
			t.Errorf("nodes %s: %+v, %v; want that it is free", row.when, st, err)
		}
	}
	s.servers[0].Restart()
	if st, err := s.client().Status(t.Context(), "x"); err != nil || st.Held || st.Nodes[0].Reason != verdict.ReasonFreeNoVote {
		t.Errorf("one of three restarted: %+v, %v; want that it is free", st, err)
	}
}

// A node that restarted with old data names a holder of the past. It may have forgotten the present one.
func TestAHolderOfThePastDoesNotHideThePresentOne(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	long := func(c *holdfast.Config) { c.MaxTTL, c.TTL = time.Minute, time.Minute } // no renewal meanwhile
	lease := lock(t, s.ready(s.client(slow, long)), "x")
	redistest.Eventually(t, 5*time.Second, "the lease on all nodes", func() bool {
		for i := range 5 {
			if s.plain(i, "x") != lease.Owner() {
				return false
			}
		}
		return true
	})
	s.each([]int{3, 4}, func(srv *redistest.Server) { srv.MustDo(t, "DEL", "x", "{x}:holdfast") }) // they never granted
	past := nodescript.Record{Seen: lease.Fence() - 1, Token: lease.Fence() - 1, Expiry: time.Now().Add(time.Hour).UnixMicro(), Owner: "past~p~1-1"}
	s.servers[0].Restart()
	s.servers[0].MustDo(t, "SET", nodescript.RecordKey("x"), past.String(), "PX", 60_000)
	s.servers[0].MustDo(t, "SET", "x", past.Owner, "PX", 60_000)
	if st, err := s.client(slow, long).Status(t.Context(), "x"); !errors.Is(err, holdfast.ErrUnavailable) || st.Held {
		t.Errorf("two nodes name the holder, one forgot it: %+v, %v; want ErrUnavailable", st, err)
	}
}

// admin.Nodes meets the nodes again, and so does a client whose connections broke. Neither may need memory on the
// nodes: a lease is renewed even if memory is full.
func TestAStatusWhereMemoryIsFullEndsNoLease(t *testing.T) {
	t.Parallel()
	const ttl = 5 * time.Second
	for name, doubt := range map[string]func(*set, *holdfast.Client){
		"nodes asked": func(_ *set, c *holdfast.Client) {
			for i, n := range admin.Nodes(t.Context(), c) {
				if n.Reason != verdict.ReasonUnwritable || n.Cause != verdict.CauseMemory {
					t.Errorf("node %d: %s; want that its memory is full", i, n.Said())
				}
			}
		},
		"connections broken": func(s *set, _ *holdfast.Client) {
			s.each(all(3), func(srv *redistest.Server) { srv.MustDo(t, "CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "YES") })
		},
		"scripts gone": func(s *set, _ *holdfast.Client) {
			s.each(all(3), func(srv *redistest.Server) { srv.MustDo(t, "SCRIPT", "FLUSH") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 3)
			c := s.ready(s.client(func(c *holdfast.Config) { c.MaxTTL = ttl }))
			lease := lock(t, c, "x")
			s.each(all(3), func(srv *redistest.Server) { srv.MustDo(t, "CONFIG", "SET", "maxmemory", "1") })
			doubt(s, c)
			since := lease.Deadline()
			redistest.Eventually(t, 20*time.Second, "the lease is renewed for another TTL", func() bool {
				return lease.Context().Err() != nil || lease.Deadline().Sub(since) > ttl
			})
			if err := lease.Context().Err(); err != nil {
				t.Fatalf("the lease ended: %v", context.Cause(lease.Context()))
			}
			if err := lease.Unlock(t.Context()); err != nil {
				t.Errorf("not given back: %v", err)
			}
		})
	}
}

// A node may still keep the name as a claim of the owner. This must not hide the lease that a majority granted.
func TestAClaimOnOneNodeDoesNotHideALease(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	// No renewal comes during the test.
	c := s.ready(s.client(slow, func(c *holdfast.Config) { c.MaxTTL, c.TTL = time.Minute, time.Minute }))
	lease := lock(t, c, "x")
	defer lease.Unlock(t.Context())
	redistest.Eventually(t, 5*time.Second, "the lease on all nodes", func() bool {
		return s.plain(0, "x") == lease.Owner() && s.plain(1, "x") == lease.Owner() && s.plain(2, "x") == lease.Owner()
	})
	claim := nodescript.Record{Seen: lease.Fence(), Expiry: time.Now().Add(time.Hour).UnixMicro(), Owner: lease.Owner()}
	s.servers[2].MustDo(t, "SET", nodescript.RecordKey("x"), claim.String(), "PX", 60_000)
	st, err := c.Status(t.Context(), "x")
	if err != nil || !st.Held || st.Holder().Offered || st.Holder().Fence != lease.Fence() || st.Holder().Since.UnixMicro() != lease.Fence() {
		t.Errorf("a lease on two nodes of three, a claim on the third: %+v, %v; want the lease", st, err)
	}
	s.servers[1].MustDo(t, "SET", nodescript.RecordKey("x"), claim.String(), "PX", 60_000)
	if st, err = c.Status(t.Context(), "x"); err != nil || !st.Holder().Offered || st.Holder().Fence != 0 || !st.Holder().Since.IsZero() {
		t.Errorf("claims on two nodes of three: %+v, %v; want that it is offered", st, err)
	}
}

// A name that UnlockAt keeps taken has an owner whose lease has ended. The error of another attempt gives the time that
// is left now.
func TestAKeptNameIsHeldByWhoLeftIt(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client())
	lease := lock(t, c, "x")
	if err := lease.UnlockAt(t.Context(), time.Now().Add(900*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	st, err := c.Status(t.Context(), "x")
	if err != nil || !st.Held || !st.Holder().Left || !strings.HasPrefix(st.Holder().Owner, lease.Owner()) {
		t.Errorf("%+v, %v", st, err)
	}
	_, err = c.Mutex("x").TryLock(t.Context())
	var held *holdfast.HeldError
	if !errors.As(err, &held) || !held.Holder().Left || held.ExpiresIn <= 0 {
		t.Errorf("%+v, %v", held, err)
	}
	other := lock(t, c, "y")
	defer other.Unlock(t.Context())
	if st, err := c.Status(t.Context(), "y"); err != nil || st.Holder().Left {
		t.Errorf("of a lease: %+v, %v", st, err)
	}
}
