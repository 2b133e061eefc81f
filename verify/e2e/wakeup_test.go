package e2e

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A hand-off must be quick, and it must become a lease.

// inMostLines waits until a waiter is in the queues of a majority. It does not wait for all queues. A node that got the
// waiter's question before the holder's question has no waiter in its queue, because the waiter gives back its grant
// there.
func (s *set) inMostLines(name string) {
	s.t.Helper()
	redistest.Eventually(s.t, 20*time.Second, "a waiter in most queues", func() bool {
		standing := 0
		for i := range s.servers {
			standing += int(s.queued(i, name))
		}
		return standing > len(s.servers)/2
	})
}

// A claim ends after a second. The lease that the waiter made of the claim must last longer.
func TestALeaseThatWasHandedOverLasts(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		holder := lock(t, s.ready(s.client(calm)), "x")
		waiter := s.ready(s.client(calm))
		got := make(chan *holdfast.Lease, 1)
		var wait sync.WaitGroup
		defer wait.Wait()
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			l, err := waiter.Mutex("x").Lock(ctx)
			if err != nil {
				t.Error(err)
			}
			got <- l
		})
		s.inMostLines("x")
		holder.Unlock(t.Context())
		l := <-got
		if l == nil {
			return
		}
		if l.Fence() <= holder.Fence() {
			t.Errorf("token %d after %d", l.Fence(), holder.Fence())
		}
		for range 2 {
			if !awaitRenewal(l) {
				t.Fatalf("a lease that was handed over ended: %v", context.Cause(l.Context()))
			}
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Two clients take turns. A waiter that is not woken asks again within a second, so all waiters are always served. Only
// the total time shows whether they were woken. On a busy machine a wake-up may come too late, so there are three
// series.
func TestAReleaseWakesTheFirstInLineAtOnce(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		const turns, most = 12, 3 * time.Second // without wake-ups a series takes about 6 s
		clients := []*holdfast.Client{s.ready(s.client(calm)), s.ready(s.client(calm))}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		l := lock(t, clients[0], "x")
		series := func() (spent time.Duration) {
			for i := range turns {
				got := make(chan *holdfast.Lease, 1)
				go func() {
					l, err := clients[(i+1)%2].Mutex("x").Lock(ctx)
					if err != nil {
						t.Errorf("turn %d: %v", i, err)
					}
					got <- l
				}()
				s.inMostLines("x")
				start := time.Now()
				if err := l.Unlock(ctx); err != nil {
					t.Fatal(err)
				}
				if l = <-got; l == nil {
					t.FailNow()
				}
				spent += time.Since(start)
			}
			return spent
		}
		for n := 1; ; n++ {
			spent := series().Round(time.Millisecond)
			t.Logf("%d hand-offs took %s", turns, spent)
			if spent <= most {
				break
			}
			if n == 3 {
				t.Errorf("%d hand-offs took %s, also in two earlier series; nobody was woken", turns, spent)
				break
			}
		}
		l.Unlock(t.Context())
	})
}
