package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

var (
	setsTaken = flag.Int("holdfast.sets", 2000, "how many sets of locks are taken by a crowd")
	circle    = flag.Duration("holdfast.circle", time.Minute, "how long a caller of that crowd waits; longer than any wait that is no circle")
)

// use is the use of one name. It finds two holders at a time, and tokens in the wrong order.
type use struct {
	name    string
	holders atomic.Int32
	fence   atomic.Int64
}

func (u *use) begin(t *testing.T, fence int64) {
	if n := u.holders.Add(1); n != 1 {
		t.Errorf("%s has %d holders", u.name, n)
	}
	if last := u.fence.Swap(fence); last >= fence {
		t.Errorf("%s has token %d after %d", u.name, fence, last)
	}
}

func (u *use) end() { u.holders.Add(-1) }

// Sixteen callers in four clients take random subsets of eight names in random orders, mixed with single locks. Some
// callers give up, subscriptions are killed, and one of five nodes is frozen now and then. Processes that hold a set or
// wait for one are killed. All other callers are served, so no callers wait in a circle. At the end no node has a
// trace.
//
// The test runs without other tests, because its callers would disturb them.
func TestRandomSetsOfLocksNeitherDeadlockNorOverlap(t *testing.T) {
	sets(t, func(t *testing.T, s *set) {
		const clients, callers, names = 4, 16, 8
		var all [names]*use
		for i := range all {
			all[i] = &use{name: fmt.Sprint("x", i)}
		}
		draw := func(most int) (some []*use, list []string) {
			for _, i := range rand.Perm(names)[:1+rand.IntN(most)] {
				some, list = append(some, all[i]), append(list, all[i].name)
			}
			return some, list
		}
		ctx, stop := context.WithCancel(t.Context())
		var took, single, refused, gaveUp, killed atomic.Int64
		var crowd, faults sync.WaitGroup
		var cs []*holdfast.Client
		for _, srv := range s.servers {
			srv.MustDo(t, "CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "400")
		}
		for range clients {
			cs = append(cs, s.ready(s.client(patient, func(c *holdfast.Config) { c.NodeTimeout = 5 * time.Second })))
		}
		caller := func(c *holdfast.Client) {
			bounded, cancel := context.WithTimeout(t.Context(), *circle)
			impatient := rand.IntN(8) == 0
			if impatient {
				cancel()
				bounded, cancel = context.WithTimeout(t.Context(), rand.N(30*time.Millisecond))
			}
			defer cancel()
			some, list := draw(4)
			on := holdfast.WaitThroughOutages() // this machine may freeze for longer than a call waits
			var err error
			switch rand.IntN(10) {
			case 0, 1:
				err = c.Mutex(list[0], on).Do(bounded, func(ctx context.Context) error {
					l, _ := holdfast.FromContext(ctx)
					some[0].begin(t, l.Fence())
					defer some[0].end()
					single.Add(1)
					return nil
				})
			case 2:
				var set *holdfast.LeaseSet
				if set, err = c.TryLockAll(bounded, list); errors.Is(err, holdfast.ErrHeld) {
					refused.Add(1)
					return
				} else if err == nil {
					err = set.Unlock(t.Context())
				}
			default:
				err = c.DoAll(bounded, list, func(ctx context.Context) error {
					set, _ := holdfast.LeaseSetFromContext(ctx)
					for _, u := range some {
						u.begin(t, set.Fence(u.name))
						defer u.end()
					}
					took.Add(1)
					return nil
				}, on)
			}
			switch {
			case err == nil:
			case impatient && errors.Is(err, context.DeadlineExceeded):
				gaveUp.Add(1)
			case errors.Is(err, holdfast.ErrLost):
				t.Errorf("%q: %v", list, err)
				for i := range s.servers {
					t.Logf("the last commands of node %d:\n%s", i, s.history(i, 400))
				}
			default:
				t.Errorf("%q: %v", list, err)
			}
		}
		for i := range callers {
			crowd.Go(func() {
				for ctx.Err() == nil && !t.Failed() {
					caller(cs[i%clients])
				}
			})
		}
		faults.Go(func() {
			for ctx.Err() == nil {
				<-time.After(rand.N(100 * time.Millisecond))
				s.servers[rand.IntN(max(1, len(s.servers)-1))].MustDo(t, "CLIENT", "KILL", "TYPE", "pubsub")
			}
		})
		if last := len(s.servers) - 1; last > 0 { // a minority is frozen now and then
			faults.Go(func() {
				for ctx.Err() == nil {
					<-time.After(rand.N(2 * time.Second))
					s.servers[last].Freeze()
					<-time.After(rand.N(400 * time.Millisecond))
					s.servers[last].Thaw()
				}
			})
		}
		faults.Go(func() {
			for ctx.Err() == nil {
				_, list := draw(4)
				p := s.waiter("-keep", "-all", strings.Join(list, ","), "-ttl", "1600ms")
				p.until(time.Minute, "ready")
				p.tell()
				<-time.After(rand.N(40 * time.Millisecond)) // the process waits for some locks, or has all
				p.Kill()
				killed.Add(1)
				<-time.After(rand.N(2 * time.Second))
			}
		})
		for took.Load() < int64(inShort(*setsTaken, 500)/2) && !t.Failed() {
			<-time.After(10 * time.Millisecond)
		}
		stop()
		faults.Wait()
		crowd.Wait()
		t.Logf("%d sets and %d single locks taken, %d tries refused, %d gave up, %d processes killed", took.Load(), single.Load(), refused.Load(), gaveUp.Load(), killed.Load())
		for _, c := range cs {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		var list []string
		for _, u := range all {
			list = append(list, u.name)
		}
		s.empty(list)
	})
}

// history returns the last n commands that node i ran, as its slow log has them. Each line has the time, the address of
// the client and the arguments.
func (s *set) history(i, n int) string {
	var b strings.Builder
	list, _ := s.servers[i].MustDo(s.t, "SLOWLOG", "GET", n).([]any)
	for _, one := range slices.Backward(list) {
		if entry, ok := one.([]any); ok && len(entry) > 4 {
			fmt.Fprintln(&b, entry[1], entry[4], entry[3])
		}
	}
	return b.String()
}

// empty waits until no node has a lock of one of the names, or a waiter for it.
func (s *set) empty(names []string) {
	s.t.Helper()
	redistest.Eventually(s.t, 70*time.Second, "no locks and no waiters", func() bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !s.expired(name, all(len(s.servers))) })
	})
}

// expired reports whether the nodes in which have no queue for name, and no lock of name that has not expired.
func (s *set) expired(name string, which []int) bool {
	s.t.Helper()
	for _, i := range which {
		r, ok := s.record(i, name)
		if ok && r.Owner != "" && r.Expiry > time.Now().UnixMicro() || s.plain(i, name) != "" {
			return false
		}
		if n, _ := s.servers[i].MustDo(s.t, "EXISTS", nodescript.QueueKey(nodescript.RecordKey(name))).(int64); n != 0 {
			return false
		}
	}
	return true
}
