package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// queued returns the number of waiters in a node's queue for name.
func (s *set) queued(i int, name string) int64 {
	srv, name := s.at(i, name)
	v, _ := srv.Do("ZCARD", nodescript.RecordKey(name)+":queue")
	n, _ := v.(int64)
	return n
}

// inLine waits until the queues of all nodes contain n waiters.
func (s *set) inLine(name string, n int) {
	s.t.Helper()
	redistest.Eventually(s.t, time.Minute, fmt.Sprintf("%d waiters in every queue", n), func() bool {
		for i := range s.n() {
			if s.queued(i, name) != int64(n) {
				return false
			}
		}
		return true
	})
}

// order is the list of holders, in the order of service.
type order struct {
	mu  sync.Mutex
	got []int
}

func (o *order) add(i int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.got = append(o.got, i)
}

// turn waits for m, notes that waiter i has it, and releases it.
func (o *order) turn(t *testing.T, i int, m *holdfast.Mutex) {
	l, err := m.Lock(t.Context())
	if err != nil {
		t.Errorf("waiter %d: %v", i, err)
		return
	}
	o.add(i)
	l.Unlock(t.Context())
}

func TestWaitersAreServedInTheOrderTheyCame(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		const waiters = 50
		holder := lock(t, s.ready(s.client(patient)), "x")
		var o order
		var wait sync.WaitGroup
		for i := range waiters {
			c := s.client(patient)
			for !leasetest.Vote(t.Context(), c) || !punctual(t.Context(), c) {
			}
			<-time.After(4 * late) // the pause makes its ticket higher than the previous ticket
			wait.Go(func() {
				o.turn(t, i, c.Mutex("x"))
			})
			s.inLine("x", i+1)
		}
		start := time.Now()
		holder.Unlock(t.Context())
		wait.Wait()
		if !slices.IsSorted(o.got) || len(o.got) != waiters {
			t.Errorf("served in the order %v", o.got)
		}
		t.Logf("%d served in %s", waiters, time.Since(start).Round(time.Millisecond))
	})
}

// Every third waiter is spoilt. It gives up, its process dies (its connections are gone), or its process hangs (its
// connections exist, but nothing reads them).
func TestSpoiltWaitersAreSkipped(t *testing.T) {
	t.Parallel()
	waiters := inShort(21, 12)
	spoil := map[string]func(cancel context.CancelFunc, n network){
		"cancelled": func(cancel context.CancelFunc, _ network) { cancel() },
		"dead": func(_ context.CancelFunc, n network) {
			n.all(func(p *redistest.Proxy) { p.Cut(true) })
		},
		"frozen": func(_ context.CancelFunc, n network) {
			n.all(func(p *redistest.Proxy) { p.BlackHole(true) })
		},
	}
	for how, spoil := range spoil {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 5)
			long := func(c *holdfast.Config) { c.MaxTTL = 10 * time.Second }
			holder := lock(t, s.ready(s.client(long)), "x")
			var o order
			var wait sync.WaitGroup
			var spoilt []func()
			for i := range waiters {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				way := func(*holdfast.Config) {}
				if i%3 == 1 {
					net := s.network()
					way = net.via(t, viaRueidis)
					spoilt = append(spoilt, func() { spoil(cancel, net) })
				}
				c := s.ready(s.client(long, way))
				wait.Go(func() {
					l, err := c.Mutex("x").Lock(ctx)
					if err == nil {
						o.add(i)
						l.Unlock(context.WithoutCancel(ctx))
					} else if i%3 != 1 && !errors.Is(err, context.Canceled) {
						t.Errorf("waiter %d: %v", i, err)
					}
				})
				s.inLine("x", i+1)
			}
			for _, f := range spoilt {
				f()
			}
			start := time.Now()
			holder.Unlock(t.Context())
			sound := waiters - len(spoilt)
			// A frozen waiter delays the others by its claim, which lasts 1 s, and by up to a second until their next
			// question.
			redistest.Eventually(t, 60*time.Second, "all sound waiters to be served", func() bool {
				o.mu.Lock()
				defer o.mu.Unlock()
				return len(o.got) >= sound
			})
			took := time.Since(start).Round(time.Millisecond)
			t.Logf("%d of %d served in %s", sound, waiters, took)
			// If each waiter that is gone cost a claim, the others would need at least this time.
			if most := time.Duration(len(spoilt)) * nodescript.Claim; how != "frozen" && took >= most {
				t.Errorf("%d waiters were %s, and the others served in %s: they were not skipped at once", len(spoilt), how, took)
			}
			o.mu.Lock()
			if !slices.IsSorted(o.got) {
				t.Errorf("served in the order %v", o.got)
			}
			o.mu.Unlock()
		})
	}
}

// When a subscription breaks, hand-offs get lost. No waiter may sleep on because of that.
func TestNoWakeUpIsLostWithItsSubscription(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		crowd := newCrowd(s, t, "x", 6)
		crowd.progress(50, 20*time.Second, "before")
		for range 20 {
			s.each(all(len(s.servers)), func(srv *redistest.Server) { srv.MustDo(t, "CLIENT", "KILL", "TYPE", "pubsub") })
			crowd.progress(5, 10*time.Second, "after the subscriptions were killed")
		}
	})
}

// A holder that dies releases nothing. The first waiter in the queue finds the end of the lease.
func TestADeadHoldersLockGoesToTheFirstInLine(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		net := s.network()
		lock(t, s.ready(s.client(net.via(t, viaRueidis))), "x")
		var o order
		var wait sync.WaitGroup
		for i := range 3 {
			c := s.ready(s.client())
			wait.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
				defer cancel()
				l, err := c.Mutex("x").Lock(ctx)
				if err != nil {
					t.Errorf("nobody told waiter %d, and it did not ask: %v", i, err)
					return
				}
				o.add(i)
				l.Unlock(t.Context())
			})
			s.inLine("x", i+1)
		}
		start := time.Now()
		net.all(func(p *redistest.Proxy) { p.BlackHole(true) })
		wait.Wait()
		if !slices.IsSorted(o.got) {
			t.Errorf("served in the order %v", o.got)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("served %s after the holder of a TTL of 2s died", took)
		}
	})
}

// Waiting costs very little: one question a second, no matter what the holder does.
func TestWaitersAskOnceASecond(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	const waiters, seconds = 10, 5
	holder := lock(t, s.ready(s.client(calm)), "x") // the holder renews before the second of any waiter has passed
	var wait sync.WaitGroup
	for i := range waiters {
		c := s.ready(s.client(calm))
		wait.Go(func() {
			if l, err := c.Mutex("x").Lock(t.Context()); err == nil {
				l.Unlock(t.Context())
			}
		})
		s.inLine("x", i+1)
	}
	before := s.calls()[0]
	start := time.Now()
	redistest.Eventually(t, time.Minute, "some seconds to pass", func() bool { return time.Since(start) >= seconds*time.Second })
	asked := s.calls()[0] - before
	renewals := 2 * seconds
	// If the measured time begins just before a question, a client that asks every second asks once more. On a busy
	// machine it asks less often, because each second becomes longer. Less than half of the number would be too few.
	if least, most := waiters*seconds/2, waiters*(seconds+1)+renewals; asked < least || asked > most {
		t.Errorf("%d waiters made %d calls in %d s; want one per waiter and second: %d to %d", waiters, asked, seconds, least, most)
	} else {
		t.Logf("%d waiters and a holder made %d calls in %d s", waiters, asked, seconds)
	}
	holder.Unlock(t.Context())
	wait.Wait()
}

// A waiter that cannot reach the nodes for a while keeps its place.
func TestAnOutageCostsNoPlaceInLine(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		holder := lock(t, s.ready(s.client(calm)), "x")
		net := s.network()
		var told atomic.Pointer[error] // the last error that the first waiter got
		var o order
		var wait sync.WaitGroup
		for i := range 3 {
			// On a busy machine, answers that come late look like an outage. The waiters must be here to have a place.
			way, opts := func(*holdfast.Config) {}, []holdfast.Option{holdfast.WaitThroughOutages()}
			if i == 0 {
				way = net.via(t, viaRueidis)
				opts = append(opts, holdfast.OnWait(func(err error) { told.Store(&err) }))
			}
			c := s.ready(s.client(calm, way))
			wait.Go(func() {
				o.turn(t, i, c.Mutex("x", opts...))
			})
			s.inLine("x", i+1)
		}
		hears := func(what string, is func(error) bool) {
			redistest.Eventually(t, 20*time.Second, "the first waiter to be told "+what, func() bool {
				err := told.Load()
				return err != nil && is(*err)
			})
		}
		net.all(func(p *redistest.Proxy) { p.BlackHole(true) })
		hears("of the outage", func(err error) bool { return errors.Is(err, holdfast.ErrUnavailable) })
		net.all(func(p *redistest.Proxy) { p.BlackHole(false) })
		hears("that it is the first in line", func(err error) bool {
			var held *holdfast.HeldError
			return errors.As(err, &held) && held.Place == 1
		})
		s.inLine("x", 3)
		holder.Unlock(t.Context())
		wait.Wait()
		if !slices.Equal(o.got, []int{0, 1, 2}) {
			t.Errorf("served in the order %v", o.got)
		}
	})
}
