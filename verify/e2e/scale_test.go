package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// These tests check the cost of one client with many locks and many waiters. `make scale` runs them with the promised
// numbers.

var (
	manyLeases  = flag.Int("holdfast.leases", 5000, "how many leases one client holds")
	manyTTL     = flag.Duration("holdfast.leasettl", 6*time.Second, "the TTL of each")
	manyWaiters = flag.Int("holdfast.waiters", 10_000, "how many goroutines wait")
	manyNames   = flag.Int("holdfast.names", 2000, "how many goroutines wait for a name of their own")
	manyTTLs    = flag.Int("holdfast.leasettls", 1, "for how many TTLs they are held")
)

// inShort returns n, or less if only a sample of the tests is requested.
func inShort(n, less int) int {
	if testing.Short() {
		return min(n, less)
	}
	return n
}

// live returns the size of the live heap. It collects several times, because objects with a cleanup are freed only by a
// later collection.
func live() int64 {
	var m runtime.MemStats
	for range 4 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// concurrently runs f for 0 … n−1 on a few goroutines.
func concurrently(n, goroutines int, f func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range goroutines {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wait.Wait()
}

// The test is not parallel, because it measures memory and counts goroutines.
func TestOneClientHoldsManyLeases(t *testing.T) {
	const most = 1536 // bytes of heap for each lease
	inTurn(t, func(t *testing.T, s *set) {
		n := *manyLeases
		if len(s.servers) > 1 {
			n /= 5 // the same number of leases on nodes in total
		}
		ttl := time.Duration(inShort(int(*manyTTL), int(4*time.Second)))
		c := s.ready(s.client(func(c *holdfast.Config) {
			c.MaxTTL, c.TTL, c.Window, c.NodeTimeout = ttl, ttl, window, ttl // a busy machine may answer late
		}))
		leases := make([]*holdfast.Lease, n)
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprint("order/", i)
		}
		take := func(i int) {
			var err error
			if leases[i], err = c.Mutex(names[i]).Lock(t.Context()); err != nil {
				t.Errorf("%s: %v", names[i], err)
				return
			}
			leases[i].Context() // the context is made on request
		}
		// The first leases make buffers grow. This must happen before the measurement, so that it does not count for
		// the measured leases.
		concurrently(n, 64, take)
		if t.Failed() {
			return
		}
		var taken time.Time
		each, goroutines := int64(0), 0
		// Goroutines of earlier tests may still end, or allocate, during a measurement. So the test measures up to
		// five times, until a figure is small enough.
		for try := 0; try == 0 || each > most && try < 5; try++ {
			concurrently(n, 64, func(i int) { leases[i].Unlock(t.Context()) })
			clear(leases)
			before, goroutinesBefore := live(), runtime.NumGoroutine()
			concurrently(n, 64, take)
			if t.Failed() {
				return
			}
			taken = time.Now()
			each, goroutines = (live()-before)/int64(n), runtime.NumGoroutine()-goroutinesBefore
		}
		t.Logf("%d leases: %d bytes of heap each, %d goroutines more than before", n, each, goroutines)
		// With fewer leases, a connection that the driver makes during the test would change the result. It takes half
		// a megabyte.
		if each > most && n >= 5000 {
			t.Errorf("a held lease takes %d bytes; want at most %d", each, most)
		}
		if goroutines > 10*len(s.servers) {
			t.Errorf("%d goroutines more for %d leases on %d nodes", goroutines, n, len(s.servers))
		}
		// The renewals of all leases keep one processor busy. So a short run of this test holds only some of the leases
		// for the TTLs.
		if held := inShort(n, 1000); held < n {
			concurrently(n-held, 64, func(i int) { leases[held+i].Unlock(t.Context()) })
			clear(leases[held:])
			n, leases, taken = held, leases[:held], time.Now()
		}
		lost := func() (lost int) {
			for _, l := range leases {
				if l.Context().Err() != nil {
					lost++
				}
			}
			return lost
		}
		until := taken.Add(time.Duration(*manyTTLs) * ttl)
		redistest.Eventually(t, time.Until(until)+time.Minute, "some TTLs to pass", func() bool { return time.Now().After(until) || lost() > 0 })
		if lost := lost(); lost > 0 {
			t.Errorf("%d of %d leases were lost within %s", lost, n, time.Since(taken))
		}
		// The leases' contexts show that they are held. The nodes must show it too.
		for i := range s.servers {
			if size, _ := s.servers[i].MustDo(t, "EVAL", "return #redis.call('KEYS', 'order/*')", 0).(int64); int(size) < n {
				t.Errorf("node %d has %d of %d leases", i, size, n)
			}
		}
		var failed atomic.Int64
		concurrently(n, 64, func(i int) {
			if err := leases[i].Unlock(t.Context()); err != nil && failed.Add(1) == 1 {
				t.Errorf("%s: %v", names[i], err)
			}
		})
		if n := failed.Load(); n > 0 {
			t.Errorf("%d Unlocks failed", n)
		}
	})
}

// The test is not parallel, because it measures memory.
func TestManyWaitersCostLittleAndAreAllServed(t *testing.T) {
	const most = 4096 // bytes of heap for each waiter, beside its stack
	inTurn(t, func(t *testing.T, s *set) {
		// There are two cases: ten waiters for each name, and one waiter for each name.
		for _, names := range []int{inShort(*manyWaiters, 2000) / 10, inShort(*manyWaiters, 2000)} {
			waiters := inShort(*manyWaiters, 2000)
			if names == waiters {
				names = inShort(*manyNames, 500) // each of these waiters asks every second
				if len(s.servers) > 1 {
					names = min(names, 2000)
				}
				waiters = names
			}
			t.Run(fmt.Sprintf("%d for %d", waiters, names), func(t *testing.T) {
				s.waitAndDrain(t, waiters, names, most)
			})
		}
	})
}

func (s *set) waitAndDrain(t *testing.T, waiters, names, most int) {
	// The window is long because a client repeats a question that was not sent within the window. Ten thousand
	// questions at the same moment, under the race detector, take longer than a short window.
	wide := func(c *holdfast.Config) {
		c.MaxTTL, c.Window, c.NodeTimeout = 10*time.Second, time.Second, 5*time.Second
	}
	holder := s.ready(s.client(wide))
	clients := []*holdfast.Client{s.ready(s.client(wide)), s.ready(s.client(wide))}
	name := func(n int) string { return fmt.Sprint("order/", waiters, "/", n) }
	leases := make([]*holdfast.Lease, names)
	concurrently(names, 64, func(n int) {
		var err error
		if leases[n], err = holder.Mutex(name(n)).Lock(t.Context()); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// A client subscribes when its first waiter comes. This wait makes the subscriptions before the measurement.
	for _, c := range clients {
		short, cancel := context.WithCancel(ctx)
		c.Mutex(name(0), holdfast.OnWait(func(err error) {
			var held *holdfast.HeldError
			if errors.As(err, &held) && held.Place > 0 {
				cancel()
			}
		})).Lock(short)
	}
	begin := make(chan struct{})
	served := make([]atomic.Bool, waiters)
	var left atomic.Int64
	var ready, wait sync.WaitGroup
	ready.Add(waiters)
	left.Store(int64(waiters))
	for i := range waiters {
		m := clients[i%len(clients)].Mutex(name(i % names))
		wait.Go(func() {
			ready.Done()
			<-begin
			l, err := m.Lock(ctx)
			if err == nil {
				err = l.Unlock(ctx)
			}
			if err != nil && ctx.Err() == nil {
				t.Errorf("%s: %v", m.Name(), err)
			}
			served[i].Store(err == nil)
			left.Add(-1)
		})
	}
	ready.Wait()
	before := live()
	close(begin)
	redistest.Eventually(t, 2*time.Minute, "all to wait", func() bool { return parked() >= waiters })
	for n := range names {
		redistest.Eventually(t, time.Minute, "a waiter in line for "+name(n), func() bool {
			for i := range s.servers { // a node may lack the holder's lease, and then it has no queue
				if s.queued(i, name(n)) > 0 {
					return true
				}
			}
			return left.Load() < int64(waiters)
		})
	}
	if got := int64(waiters) - left.Load(); got > 0 {
		t.Fatalf("%d got a lock that was held, or gave up", got)
	}
	// If every waiter asks each second, some questions are always under way, and more on a busy machine. They are not
	// part of a waiter's cost.
	each := (live() - before) / int64(waiters)
	for until := time.Now().Add(time.Minute); each > int64(most) && waiters >= 2000 && time.Now().Before(until); {
		<-time.After(50 * time.Millisecond)
		each = min(each, (live()-before)/int64(waiters))
	}
	t.Logf("%d goroutines wait for %d names: %d bytes of heap each", waiters, names, each)
	if each > int64(most) && waiters >= 2000 { // with fewer waiters, connections would be most of the memory
		t.Errorf("a waiting goroutine takes %d bytes beside its stack; want at most %d", each, most)
	}
	begun := time.Now()
	concurrently(names, 64, func(n int) {
		if err := leases[n].Unlock(t.Context()); err != nil {
			t.Errorf("%s: %v", name(n), err)
		}
	})
	for until := begun.Add(2 * time.Minute); left.Load() > 0 && time.Now().Before(until); {
		<-time.After(5 * time.Millisecond)
	}
	stuck := map[string]int{}
	for i := range served {
		if !served[i].Load() {
			stuck[name(i%names)]++
		}
	}
	if len(stuck) > 0 {
		t.Errorf("%d of %d were not served within two minutes; so many wait for each name: %v", left.Load(), waiters, stuck)
	}
	t.Logf("all served in %s", time.Since(begun).Round(time.Millisecond))
	cancel()
	wait.Wait()
}

// parked returns the number of goroutines that wait for a lock, in a line of this process or in a queue.
func parked() (n int) {
	var records []runtime.StackRecord
	have, ok := 0, false
	for !ok {
		records = make([]runtime.StackRecord, have+1000)
		have, ok = runtime.GoroutineProfile(records)
	}
	for _, r := range records[:have] {
		frames := runtime.CallersFrames(r.Stack())
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if strings.HasSuffix(f.Function, "waiting.(*lines).becomeFirst") || strings.HasSuffix(f.Function, "waiting.(*Locker).queue") {
				n++
				break
			}
		}
	}
	return n
}
