package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/quantile"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

var lossRuns = flag.Int("holdfast.loss", 1000, "how many holders are cut off, in at least two rounds")

// Holders are cut off from all nodes at random moments. A competitor with working connections waits for each of their
// locks, and tries again at the instant when the nodes let go. The nodes' clocks differ by the largest difference that
// is allowed without a message. The earliest majority lets go 90 ms before the holder's TTL has ended by the holder's
// own clock.
//
// The test is not parallel, because up to two hundred holders at a time would disturb other tests.
func TestALossIsAnnouncedBeforeAnotherCanAcquire(t *testing.T) {
	s := bareSet(t, 5, redistest.WithClock())
	for i, off := range []time.Duration{-90, -90, 0, 90, 90} {
		s.servers[i].Step(off * time.Millisecond)
	}
	s.trust()
	wide := func(c *holdfast.Config) {
		c.Window, c.MaxTTL = 200*time.Millisecond, 2*time.Second
		c.NodeTimeout, c.RetryDelay = time.Second, 60*time.Millisecond
	}
	competitor := s.ready(s.client(wide))
	const names = 20
	holders := inShort(10, 5)
	rounds := max(2, inShort(*lossRuns, 200)/(holders*names)) // an even round cuts connections, an odd one holds back all bytes
	var gaps []time.Duration
	late := 0
	var mu sync.Mutex
	var wait sync.WaitGroup
	for h := range holders {
		wait.Go(func() {
			net := s.network()
			c := s.client(net.via(t, viaRueidis), wide)
			for r := range rounds {
				var runs sync.WaitGroup
				started := make(chan struct{}, names)
				for n := range names {
					runs.Go(func() {
						gap, told := cutOff(t, c, competitor, fmt.Sprintf("%d/%d", h, n), started)
						mu.Lock()
						defer mu.Unlock()
						if !told {
							late++
						}
						gaps = append(gaps, gap)
					})
				}
				for range names {
					<-started
				}
				cut := (*redistest.Proxy).Cut
				if r%2 == 1 {
					cut = (*redistest.Proxy).BlackHole
				}
				<-time.After(rand.N(1200 * time.Millisecond)) // the cut comes at a random moment
				net.all(func(p *redistest.Proxy) { cut(p, true) })
				runs.Wait()
				net.all(func(p *redistest.Proxy) { cut(p, false) })
			}
		})
	}
	wait.Wait()
	if late > len(gaps)/200 {
		t.Errorf("of %d holders %d were not told of their loss before another had the lock; one in two hundred may be, for want of a processor", len(gaps), late)
	}
	sorted := quantile.Of(gaps)
	t.Logf("%d runs; between the end of a lease and the next: least %s, median %s, most %s", len(gaps),
		sorted[0].Round(time.Millisecond), sorted.Median().Round(time.Millisecond), sorted.Longest().Round(time.Millisecond))
}

// cutOff holds a lock through c until the competitor gets it. It returns whether the holder was told of its loss, and
// how long before the competitor got the lock. It reports errors but does not stop the test, because it runs on its own
// goroutine.
func cutOff(t *testing.T, c, competitor *holdfast.Client, name string, started chan<- struct{}) (gap time.Duration, told bool) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	<-time.After(rand.N(300 * time.Millisecond)) // the random pause separates the renewals
	var lease *holdfast.Lease
	var err error
	for lease == nil && ctx.Err() == nil { // the network comes back from the last round
		lease, err = c.Mutex(name).Lock(ctx)
	}
	started <- struct{}{}
	if lease == nil {
		t.Errorf("%s: %v", name, err)
		return 0, false
	}
	ended := make(chan time.Time, 1)
	context.AfterFunc(lease.Context(), func() { ended <- time.Now() })
	next, err := competitor.Mutex(name).Lock(ctx)
	for errors.Is(err, holdfast.ErrUnavailable) && ctx.Err() == nil { // nodes may be slow
		next, err = competitor.Mutex(name).Lock(ctx)
	}
	acquired := time.Now()
	// The check asks the lease itself. It does not ask an observer, because the goroutine of an observer may run late.
	// The timer may also run late if the process gets no processor for longer than the margin. This is a pause, and a
	// process cannot be told of a loss in time during a pause.
	if left := time.Until(lease.Deadline()); left > 0 && lease.Context().Err() == nil {
		t.Errorf("%s: acquired by another while the holder believed in it for another %s", name, left)
	} else if told = lease.Context().Err() != nil; !told {
		t.Logf("%s: this machine fired the deadline's timer more than %s late", name, -left)
	}
	select {
	case <-lease.Context().Done():
	case <-ctx.Done():
		t.Errorf("%s: the lease never ended", name)
		return 0, false
	}
	if err != nil {
		t.Errorf("%s: the competitor: %v", name, err)
		return 0, told
	}
	if cause := context.Cause(lease.Context()); !errors.Is(cause, holdfast.ErrLost) {
		t.Errorf("%s: the lease's context ended with %v", name, cause)
	}
	if next.Fence() <= lease.Fence() {
		t.Errorf("%s: token %d after %d", name, next.Fence(), lease.Fence())
	}
	// On a busy machine the competitor's own deadline may pass. But no node may call the competitor's lease lost before
	// its deadline.
	left := time.Until(next.Deadline())
	starved := func(err error) bool { return errors.Is(err, holdfast.ErrLost) && left <= 0 }
	if err := next.Unlock(ctx); err != nil && !errors.Is(err, holdfast.ErrUnavailable) && !starved(err) {
		t.Errorf("%s: the competitor's Unlock: %v", name, err)
	}
	return acquired.Sub(<-ended), told
}

// Validity counts from the sending of the request, no matter what the network does to the replies.
func TestBeliefCountsFromTheInstantOfSending(t *testing.T) {
	t.Parallel()
	const delay = 250 * time.Millisecond
	const validity = 4148 * time.Millisecond // TTL − 4 W − TTL/100 − 2 ms
	s := newSet(t, 5)
	net := s.network()
	c := s.ready(s.client(calm, net.via(t, viaRueidis)))
	net.all(func(p *redistest.Proxy) { p.DelayReplies(delay) })
	sent := time.Now()
	lease := lock(t, c, "x")
	deadline := lease.Deadline()
	if left := time.Until(deadline); left > validity-delay {
		t.Errorf("with answers %s late %s of %s are left", delay, left, validity)
	}
	if deadline.Before(sent.Add(validity)) {
		t.Errorf("the deadline is %s before the validity is over", sent.Add(validity).Sub(deadline))
	}
	redistest.Eventually(t, 10*time.Second, "a renewal", func() bool {
		now := time.Now()
		moved := lease.Deadline()
		if moved.Sub(deadline) < 10*time.Millisecond { // each call computes the deadline again
			return false
		}
		if left := moved.Sub(now); left > validity-delay {
			t.Errorf("after a renewal answered %s late %s of %s are left", delay, left, validity)
		}
		return true
	})
}

func TestScriptsFlushedUnderALeaseChangeNothing(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		c, other := s.ready(s.client(calm)), s.ready(s.client(calm))
		lease := lock(t, c, "x")
		for range 3 {
			s.each(all(len(s.servers)), func(srv *redistest.Server) { srv.MustDo(t, "SCRIPT", "FLUSH") })
			before := lease.Deadline()
			redistest.Eventually(t, 5*time.Second, "a renewal after the flush", func() bool {
				return lease.Deadline().Sub(before) > 100*time.Millisecond || lease.Context().Err() != nil
			})
			if err := context.Cause(lease.Context()); err != nil {
				t.Fatalf("the lease ended: %v", err)
			}
			if _, err := other.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
				t.Fatalf("TryLock of another client: %v", err)
			}
		}
		s.each(all(len(s.servers)), func(srv *redistest.Server) { srv.MustDo(t, "SCRIPT", "FLUSH") })
		if err := lease.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		s.each(all(len(s.servers)), func(srv *redistest.Server) { srv.MustDo(t, "SCRIPT", "FLUSH") })
		next := lock(t, other, "x")
		if next.Fence() <= lease.Fence() {
			t.Errorf("token %d after %d", next.Fence(), lease.Fence())
		}
	})
}
