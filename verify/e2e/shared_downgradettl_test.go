package e2e

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A lease has a long deadline, and a shorter TTL for its later renewals. A downgrade must not shorten the lease on the
// nodes, because the holder relies on the old deadline.
func TestADowngradeDoesNotShortenTheLease(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	net := s.network()
	long := func(c *holdfast.Config) { c.MaxTTL, c.TTL = 20*time.Second, 20*time.Second }
	other := s.ready(s.client(long))
	c := s.ready(s.client(long, net.via(t, viaRueidis)))
	l := lock(t, c, "x")
	if err := l.Extend(t.Context(), 8*window); err != nil { // it keeps the deadline
		t.Fatal(err)
	}
	if err := l.Downgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	net.all(func(p *redistest.Proxy) { p.BlackHole(true) })
	end := time.Now().Add(8*window + 2*time.Second)
	for time.Now().Before(end) && !t.Failed() {
		nobodyElse(t, other, "x", l)
		<-time.After(50 * time.Millisecond)
	}
}

// A downgrade whose context ended goes on. A second call must not say that it is done.
func TestASecondDowngradeWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(patient))
	l := lock(t, c, "x")
	fence := l.Fence()
	s.each([]int{1, 2}, (*redistest.Server).Freeze)
	for i := range 2 {
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if err := l.Downgrade(short); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("downgrade %d without a quorum: %v; the lease has the fence %d, as before: %v", i, err, l.Fence(), l.Fence() == fence)
		}
		cancel()
	}
	s.each([]int{1, 2}, (*redistest.Server).Thaw)
}

// The second caller sees a shared handle. If it gets nil, the nodes have changed the lease.
func TestTwoDowngradesAtOnce(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client(patient))
	for round := range 300 {
		l := lock(t, c, "x")
		token := l.Fence()
		var first sync.WaitGroup
		first.Go(func() {
			if err := l.Downgrade(t.Context()); err != nil {
				t.Errorf("the first downgrade: %v", err)
			}
		})
		for !l.Shared() {
			runtime.Gosched()
		}
		if err := l.Downgrade(t.Context()); err != nil || l.Fence() == token {
			t.Errorf("round %d: the second downgrade returned %v, and the token is still that of the writer: %t", round, err, l.Fence() == token)
		}
		first.Wait()
		if err := l.Unlock(t.Context()); err != nil || t.Failed() {
			t.Fatal(err)
		}
	}
}
