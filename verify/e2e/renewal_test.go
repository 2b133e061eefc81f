package e2e

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestALeaseIsRenewedUntilUnlock(t *testing.T) {
	t.Parallel()
	const ttl = 4 * time.Second // a machine that runs all tests at once may stop a process for more than a second
	s := newSet(t, 5)
	c := s.ready(s.client(func(c *holdfast.Config) { c.MaxTTL = ttl }))
	l := lock(t, c, "x")
	first := l.Deadline()
	redistest.Eventually(t, 3*ttl, "two TTLs to pass", func() bool {
		if err := context.Cause(l.Context()); err != nil {
			t.Fatalf("the lease ended by itself: %v", err)
		}
		return time.Since(first) > ttl
	})
	if !l.Deadline().After(time.Now()) {
		t.Errorf("the deadline %s of a held lease is in the past", l.Deadline())
	}
}

func TestExtendNeverMovesTheDeadlineBack(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	c := s.ready(s.client(func(c *holdfast.Config) { c.MaxTTL = 5 * time.Second }))
	l := lock(t, c, "x")
	before, expiry := l.Deadline(), s.expiries("x")
	if err := l.Extend(t.Context(), 1600*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if l.Deadline().Before(before.Add(-time.Millisecond)) {
		t.Errorf("Extend by less moved the deadline from %s to %s", before, l.Deadline())
	}
	for i, e := range s.expiries("x") {
		if e < expiry[i] {
			t.Errorf("node %d: Extend by less moved the expiry back by %dµs", i, expiry[i]-e)
		}
	}
	for _, bad := range []time.Duration{0, -time.Second, 1599 * time.Millisecond, 5*time.Second + 1} {
		if err := l.Extend(t.Context(), bad); err == nil || errors.Is(err, holdfast.ErrUnavailable) {
			t.Errorf("Extend by %s: %v; want an error that names the bounds", bad, err)
		}
	}
}

func (s *set) expiries(name string) (list []int64) {
	for i := range s.servers {
		r, _ := s.record(i, name)
		list = append(list, r.Expiry)
	}
	return list
}

func TestLossIsAnnouncedWhileRenewalHangs(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	c := s.ready(s.client())
	l := lock(t, c, "x")
	s.each(all(3), (*redistest.Server).Freeze)
	deadline := l.Deadline()
	select {
	case <-l.Context().Done():
	case <-time.After(10 * time.Second):
		t.Fatalf("the loss was never announced: the deadline is %s although two of five nodes answer", time.Until(l.Deadline()))
	}
	if late := time.Since(deadline); late > 4*window { // after the margin the nodes may give the name to another client
		t.Errorf("the loss was announced %s after the deadline; the lock could be somebody else's", late)
	}
	if err := context.Cause(l.Context()); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("the lease ended with %v", err)
	}
	if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("Unlock of a lost lease: %v", err)
	}
	if err := l.Extend(t.Context(), settings().MaxTTL); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("Extend of a lost lease: %v", err)
	}
	s.each(all(3), (*redistest.Server).Thaw)
	redistest.Eventually(t, 5*time.Second, "the lost lease to be gone from every node", func() bool { return s.clean("x", all(5)...) })
}

// Waiters ask every node again and again, even a node that lacks the lease. This must not prevent the repair of the
// lease there.
func TestALeaseComesBackToANodeWhileOthersWait(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	l := lock(t, s.ready(s.client(longLived)), "x")
	ctx, stop := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	defer func() { stop(); waiting.Wait() }()
	n := 40
	if testing.Short() {
		n = 20
	}
	for range n {
		m := s.ready(s.client(longLived)).Mutex("x")
		waiting.Go(func() {
			if _, err := m.Lock(ctx); err == nil {
				t.Error("somebody else has it")
			}
		})
	}
	s.inLine("x", n)
	s.servers[4].Do("DEL", "x", "{x}:holdfast", "{x}:holdfast:queue")
	joins(t, s, 4, l)
}

func longLived(c *holdfast.Config) { c.MaxTTL, c.TTL = 10*time.Second, 10*time.Second }
