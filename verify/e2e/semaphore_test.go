package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A semaphore has as many holders as slots, each with a slot of its own. A slot that is given back goes to a waiter.
func TestASemaphoreHasAHolderForEachSlot(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		for _, k := range []int{1, 3, 100} {
			t.Run(fmt.Sprintf("%d nodes, %d slots", n, k), func(t *testing.T) {
				t.Parallel()
				s := plainSet(t, n)
				a, b := s.ready(s.client(unhurried)), s.ready(s.client(unhurried))
				seen := newSlots(t)
				var held []*holdfast.Lease
				for i := range k {
					c := a
					if i%2 == 1 {
						c = b
					}
					l, err := c.Semaphore("x", k).TryAcquire(t.Context())
					if err != nil {
						t.Fatalf("slot %d of %d: %v", i+1, k, err)
					}
					seen.take(l, k)
					held = append(held, l)
				}
				var full *holdfast.HeldError
				if l, err := a.Semaphore("x", k).TryAcquire(t.Context()); !errors.As(err, &full) || full.Slots != k {
					t.Fatalf("one more than %d: %v, %v", k, l, err)
				}
				st, err := a.Semaphore("x", k).Status(t.Context())
				if err != nil || len(st.Holders) != k {
					t.Errorf("the status shows %d holders, %v; want %d", len(st.Holders), err, k)
				}
				if l, err := a.Mutex("x").TryLock(t.Context()); err != nil {
					t.Errorf("a lock of the name of a semaphore: %v", err)
				} else if l.Slot() != -1 {
					t.Errorf("a lock has the slot %d", l.Slot())
				}
				got := make(chan *holdfast.Lease)
				go func() {
					l, err := b.Semaphore("x", k).Acquire(t.Context())
					if err != nil {
						t.Error(err)
					}
					got <- l
				}()
				s.inLineForSlot("x", 1)
				last := held[len(held)/2]
				seen.give(last)
				if l := <-got; l != nil && l.Slot() != last.Slot() {
					t.Errorf("slot %d was given back, and the waiter has %d", last.Slot(), l.Slot())
				}
			})
		}
	}
}

// Many goroutines of several clients work under a semaphore. There are never more than k, all k slots are used, and the
// fences of each slot grow.
func TestACrowdUnderASemaphore(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n, " nodes"), func(t *testing.T) {
			t.Parallel()
			const k, clients, each, rounds = 3, 4, 4, 12
			s := plainSet(t, n)
			seen := newSlots(t)
			var wait sync.WaitGroup
			until := time.Now().Add(20 * time.Second)
			for range clients {
				c := s.ready(s.client(patient))
				for range each {
					wait.Go(func() {
						for range rounds {
							l, err := c.Semaphore("x", k).Acquire(t.Context())
							if err != nil {
								t.Error(err)
								return
							}
							seen.take(l, k)
							seen.awaitMost(k, until)
							<-time.After(3 * time.Millisecond)
							seen.give(l)
						}
					})
				}
			}
			start := time.Now()
			wait.Wait()
			if seen.most != k {
				t.Errorf("%d slots were in use at most; want %d", seen.most, k)
			}
			t.Logf("%d leases in %s", clients*each*rounds, time.Since(start).Round(time.Millisecond))
		})
	}
}

// A minority of the nodes is killed, frozen or comes back while a crowd works under a semaphore. Exclusion holds, and
// everybody is served.
func TestACrowdUnderASemaphoreWhileNodesFail(t *testing.T) {
	t.Parallel()
	const k, clients = 3, 4
	s := newSet(t, 5)
	seen := newSlots(t)
	stop := make(chan struct{})
	var wait sync.WaitGroup
	var leases atomic.Int32
	for range clients {
		c := s.ready(s.client())
		for range 3 {
			wait.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					l, err := c.Semaphore("x", k, holdfast.WaitThroughOutages()).Acquire(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					leases.Add(1)
					seen.take(l, k)
					<-time.After(2 * time.Millisecond)
					seen.mu.Lock()
					delete(seen.holders, l.Slot())
					seen.mu.Unlock()
					if err := l.Unlock(t.Context()); errors.Is(err, holdfast.ErrLost) {
						t.Error(err)
					}
				}
			})
		}
	}
	<-time.After(300 * time.Millisecond)
	s.kill(s.servers[0])
	s.servers[1].Freeze()
	<-time.After(1500 * time.Millisecond)
	s.servers[1].Thaw()
	before := leases.Load()
	<-time.After(time.Second)
	s.servers[0].Restart()
	s.vouch(s.servers[0])
	<-time.After(time.Second)
	close(stop)
	wait.Wait()
	if after := leases.Load(); after-before < 20 || seen.most != k {
		t.Errorf("%d leases after the faults, %d slots in use at most", after-before, seen.most)
	}
	t.Logf("%d leases", leases.Load())
}

// Waiters of a semaphore are served in the order in which they came. If several slots become free at the same time,
// their waiters may learn of it in any order. On five nodes a waiter may also need several rounds for its slot, while
// the other slots pass on. So a lease lasts much longer than a round, and longer than a waiter waits for the processor.
func TestWaitersOfASemaphoreAreServedInTheOrderTheyCame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nodes, waiters int
		lasts          time.Duration // each lease
	}{{1, 200, 60 * time.Millisecond}, {5, 30, 200 * time.Millisecond}} {
		t.Run(fmt.Sprint(c.nodes, " nodes"), func(t *testing.T) {
			t.Parallel()
			const k = 3
			s := newSet(t, c.nodes)
			holder := s.ready(s.client(patient))
			var held []*holdfast.Lease
			for range k {
				l, err := holder.Semaphore("x", k).Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				held = append(held, l)
			}
			var o order
			var wait sync.WaitGroup
			for i := range c.waiters {
				client := s.client(patient)
				for !leasetest.Vote(t.Context(), client) || !punctual(t.Context(), client) {
				}
				<-time.After(4 * late)
				wait.Go(func() {
					l, err := client.Semaphore("x", k).Acquire(t.Context())
					if err != nil {
						t.Errorf("waiter %d: %v", i, err)
						return
					}
					o.add(i)
					<-time.After(c.lasts)
					l.Unlock(t.Context())
				})
				s.inLineForSlot("x", i+1)
			}
			start := time.Now()
			for _, l := range held {
				l.Unlock(t.Context())
			}
			wait.Wait()
			const apart = 4 * k
			for at, i := range o.got {
				if at-i > apart || i-at > apart {
					t.Errorf("waiter %d was served as number %d: %v", i, at, o.got)
					break
				}
			}
			t.Logf("%d served in %s", len(o.got), time.Since(start).Round(time.Millisecond))
		})
	}
}

// Nobody renews or gives back the slots of a holder that was killed. They go to waiters when the TTL is over.
func TestAKilledHoldersSlotsGoToWaiters(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	machine := watchStalls(t)
	b := s.bare(t, 0)
	x := nodescript.NewSlots("x", 3)
	for slot := range 3 {
		b.says(nodescript.Granted, x.AcquireCall(slot, -1, "killed~nobody~"+fmt.Sprint(slot), b.now(), 2*time.Second, ""), "a free slot")
	}
	began := time.Now()
	wide := func(c *holdfast.Config) { c.MaxTTL, c.Window, c.NodeTimeout = 8*wideWindow, wideWindow, 5*time.Second }
	var wait sync.WaitGroup
	seen := newSlots(t)
	for range 3 {
		c := s.ready(s.client(wide))
		wait.Go(func() {
			l, err := c.Semaphore("x", 3).Acquire(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			seen.take(l, 3)
		})
	}
	wait.Wait()
	slack := 1500*time.Millisecond + min(5*machine.most(), 3*time.Second)
	if d := time.Since(began); d > 2*time.Second+wideWindow+slack {
		t.Errorf("the slots of a killed holder were free after %s", d)
	}
}

// Clients change k one after the other. There are never more holders than the largest k in use, each client keeps to
// the slots below its own k, and everybody is served.
func TestClientsWithDifferentNumbersOfSlots(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	seen := newSlots(t)
	var wait sync.WaitGroup
	var served [5]atomic.Int32
	for i := range 4 {
		k := 2 + 2*(i%2)
		c := s.ready(s.client(patient))
		for range 3 {
			wait.Go(func() {
				for range 15 {
					l, err := c.Semaphore("x", k).Acquire(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					served[k].Add(1)
					seen.take(l, k)
					<-time.After(2 * time.Millisecond)
					seen.give(l)
				}
			})
		}
	}
	wait.Wait()
	if seen.most > 4 || served[2].Load() != 90 || served[4].Load() != 90 {
		t.Errorf("%d holders at most, %d and %d served", seen.most, served[2].Load(), served[4].Load())
	}
}

// A call that cannot be served says why, before it uses the network.
func TestBadSemaphoresAreRefused(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.client()
	for _, k := range []int{0, -1, holdfast.MostSlots + 1} {
		if _, err := c.Semaphore("x", k).Acquire(t.Context()); !errors.Is(err, holdfast.ErrBadSlots) {
			t.Errorf("%d slots: %v", k, err)
		}
		if _, err := c.Semaphore("x", k).TryAcquire(t.Context()); !errors.Is(err, holdfast.ErrBadSlots) {
			t.Errorf("%d slots: %v", k, err)
		}
	}
	if _, err := c.Semaphore("x:holdfast", 1).Acquire(t.Context()); !errors.Is(err, holdfast.ErrBadName) {
		t.Errorf("a bad name: %v", err)
	}
	if _, err := c.Semaphore("x", 1, holdfast.WithTTL(time.Hour)).Acquire(t.Context()); !errors.Is(err, holdfast.ErrBadTTL) {
		t.Errorf("a bad TTL: %v", err)
	}
}

// A lease of a slot is renewed, a call under it returns a handle of the same slot, and UnlockAt keeps the slot taken.
func TestASlotIsALease(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(patient))
	const ttl = 8 * time.Second // a busy machine must not lose the lease
	x := c.Semaphore("x", 2, holdfast.WithTTL(ttl))
	err := x.Do(t.Context(), func(ctx context.Context) error {
		l, _ := holdfast.FromContext(ctx)
		first := l.Deadline()
		redistest.Eventually(t, 2*ttl, "a renewal", func() bool { return l.Deadline().After(first.Add(ttl/4)) || ctx.Err() != nil })
		inner, err := x.Acquire(ctx)
		if err != nil {
			return err
		}
		if inner.Slot() != l.Slot() || inner.Fence() != l.Fence() {
			t.Errorf("%v under %v", inner, l)
		}
		if err := inner.Unlock(ctx); err != nil {
			t.Error(err)
		}
		return l.Extend(ctx, ttl+window)
	})
	if err != nil {
		t.Error(err)
	}
	y := c.Semaphore("y", 1)
	l, err := y.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	until := time.Now().Add(time.Second)
	if err := l.UnlockAt(t.Context(), until); err != nil {
		t.Error(err)
	}
	if l, err := y.TryAcquire(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("%v, %v; want that the slot stays taken", l, err)
	}
	if _, err := y.Acquire(t.Context()); err != nil || time.Now().Before(until.Add(-2*window)) {
		t.Errorf("%v, %s before the end", err, time.Until(until))
	}
}

// The errors of a semaphore call it a semaphore, and know its number of slots.
func TestErrorsNameASemaphore(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client())
	l, err := c.Semaphore("x", 3).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.servers[0].Kill()
	var none *holdfast.UnavailableError
	if _, err := c.Semaphore("x", 3).TryAcquire(t.Context()); !errors.As(err, &none) || none.Slots != 3 || !strings.Contains(err.Error(), `semaphore "x": no quorum`) {
		t.Errorf("TryAcquire without a node: %v", err)
	}
	<-l.Context().Done()
	var lost *holdfast.LostError
	if err := context.Cause(l.Context()); !errors.As(err, &lost) || lost.Slots != 3 || !strings.Contains(err.Error(), `semaphore "x" lost`) {
		t.Errorf("the loss of a slot: %v", err)
	}
}
