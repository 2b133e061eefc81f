package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/check/redistest"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
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
	for _, said := range []string{": held by " + holdfast.Holder{Owner: lease.Owner()}.String(), ": free", ": timed out"} {
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

// Admin.Nodes meets the nodes again, and so does a client whose connections broke. Both must work without more memory
// on the nodes, because a client can renew a lease even if the memory of nodes is full.
func TestAStatusWhereMemoryIsFullEndsNoLease(t *testing.T) {
	t.Parallel()
	for name, doubt := range map[string]func(*set, *holdfast.Client){
		"nodes asked": func(_ *set, c *holdfast.Client) {
			for i, n := range c.Admin().Nodes(t.Context()) {
				if !n.Votes() {
					t.Errorf("node %d: %s; want that it votes", i, n.Said())
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
			c := s.ready(s.client())
			lease := lock(t, c, "x")
			s.each(all(3), func(srv *redistest.Server) { srv.MustDo(t, "CONFIG", "SET", "maxmemory", "1") })
			doubt(s, c)
			since := lease.Deadline()
			redistest.Eventually(t, 10*time.Second, "the lease is renewed for another two TTLs", func() bool {
				return lease.Context().Err() != nil || lease.Deadline().Sub(since) > 2*time.Second
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
	s := newSet(t, 1)
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
