package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

var manyUnlocks = flag.Int("holdfast.unlocks", 20, "how many locks TestAnOperatorTakesLocksAway takes away on each node set")

// takeAway takes a lock away, or fails the test.
func takeAway(t testing.TB, c *holdfast.Client, name string, o admin.UnlockOptions) *admin.Unlocked {
	t.Helper()
	u, err := admin.Unlock(t.Context(), c, name, o)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// forced fails unless a lease ends by an operator, within its TTL.
func forced(t testing.TB, l *holdfast.Lease) *holdfast.LostError {
	t.Helper()
	select {
	case <-l.Context().Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the holder was not told")
	}
	var lost *holdfast.LostError
	if err := context.Cause(l.Context()); !errors.As(err, &lost) || !errors.Is(err, holdfast.ErrLost) || !lost.Forced || !lost.Gone {
		t.Fatalf("the lease ended with %v", err)
	}
	return lost
}

// Workers take locks for ever, and an operator takes each lock away once it is held. The next worker gets it at once
// and has a higher token. The old holder is told at its next renewal, and no two holders believe for longer than the
// notice time. Unlocks of old holders end no later lease.
func TestAnOperatorTakesLocksAway(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		const lanes, workers = 4, 3
		late := watchStalls(t)
		var longest, told atomic.Int64
		var wait sync.WaitGroup
		for lane := range lanes {
			name := fmt.Sprint("lane/", lane)
			operator := s.ready(s.client(unhurried))
			type holding struct {
				lease *holdfast.Lease
				over  chan struct{}
			}
			held := make(chan holding)
			ctx, stop := context.WithCancel(t.Context())
			var working sync.WaitGroup
			for range workers {
				c := s.client(unhurried)
				working.Go(func() {
					for ctx.Err() == nil {
						l, err := c.Mutex(name).Lock(ctx)
						if err != nil {
							if ctx.Err() == nil {
								t.Errorf("%s: %v", name, err)
							}
							return
						}
						h := holding{l, make(chan struct{})}
						select {
						case held <- h:
							<-h.over
						case <-ctx.Done():
						}
						_ = l.Unlock(context.Background()) // it must end no later lease
					}
				})
			}
			wait.Go(func() {
				defer working.Wait()
				defer stop()
				last, ends := int64(0), []chan struct{}{}
				for range (*manyUnlocks + lanes - 1) / lanes {
					h := <-held
					if h.lease.Fence() <= last {
						t.Errorf("%s: token %d after %d", name, h.lease.Fence(), last)
					}
					last = h.lease.Fence()
					if cause := context.Cause(h.lease.Context()); cause != nil {
						t.Errorf("%s: a holder that nobody took the lock from lost it: %v", name, cause)
						close(h.over)
						return
					}
					u, err := admin.Unlock(ctx, operator, name, admin.UnlockOptions{Owners: []string{h.lease.Owner()}})
					if err != nil || len(u.Holders) != 1 || u.Holders[0].Fence != last {
						t.Errorf("%s: %+v, %v", name, u, err)
						close(h.over)
						return
					}
					over := make(chan struct{})
					ends = append(ends, over)
					wait.Go(func() {
						defer close(over)
						defer close(h.over)
						forced(t, h.lease)
						took := time.Since(u.Released)
						for now := int64(took); ; {
							if was := longest.Load(); now <= was || longest.CompareAndSwap(was, now) {
								break
							}
						}
						told.Add(1)
						if most := u.Notice + late.most(); took > most {
							t.Errorf("%s: the old holder believed for %v, want %v at most", name, took, most)
						}
					})
				}
				for _, over := range ends {
					<-over
				}
			})
		}
		wait.Wait()
		t.Logf("%d holders were told, after %v at most", told.Load(), time.Duration(longest.Load()).Round(time.Millisecond))
	})
}

// The waiters of an exclusive lock, readers, and slots are served.
func TestAnOperatorTakesALockAwayFromReadersAndSlots(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		var log written
		operator := s.ready(s.client(patient, logging(&log)))
		var readers []*holdfast.Lease
		for range 3 {
			l, err := s.client(patient).Mutex("x").RLock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			readers = append(readers, l)
		}
		writer := make(chan *holdfast.Lease)
		waiting := s.client(patient)
		go func() { writer <- lock(t, waiting, "x") }()
		s.inLine("x", 1)
		u := takeAway(t, operator, "x", admin.UnlockOptions{Owners: []string{readers[1].Owner()}})
		if len(u.Holders) != 1 || !u.Holders[0].Shared {
			t.Errorf("took the lock from %v", u.Holders)
		}
		forced(t, readers[1])
		for _, i := range []int{0, 2} {
			if err := readers[i].Extend(t.Context(), settings().MaxTTL); err != nil {
				t.Errorf("another reader: %v", err)
			}
		}
		if u = takeAway(t, operator, "x", admin.UnlockOptions{}); len(u.Holders) != 2 {
			t.Errorf("took the lock from %v", u.Holders)
		}
		w := <-writer
		for _, i := range []int{0, 2} {
			if lost := forced(t, readers[i]); w.Fence() <= readers[i].Fence() {
				t.Errorf("token %d after %d: %v", w.Fence(), readers[i].Fence(), lost)
			}
		}
		if err := w.Extend(t.Context(), settings().MaxTTL); err != nil {
			t.Error(err)
		}

		slots := map[int]*holdfast.Lease{}
		for range 2 {
			l, err := s.client(patient).Semaphore("sem", 2).Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			slots[l.Slot()] = l
		}
		if u = takeAway(t, operator, "sem", admin.UnlockOptions{Slots: 2, Owners: []string{slots[1].Owner()}}); len(u.Holders) != 1 || u.Holders[0].Slot != 1 {
			t.Errorf("took the slot from %v", u.Holders)
		}
		next, err := s.client(patient).Semaphore("sem", 2).Acquire(t.Context())
		if err != nil || next.Slot() != 1 || next.Fence() <= slots[1].Fence() {
			t.Errorf("the next holder: %v, %v", next, err)
		}
		forced(t, slots[1])
		if err := slots[0].Extend(t.Context(), settings().MaxTTL); err != nil {
			t.Error(err)
		}
		redistest.Eventually(t, 10*time.Second, "four lines in the log", func() bool {
			return strings.Count(log.String(), "lock taken away by an operator") == 4
		})
	})
}

// Nothing is taken away from others than the named owners, from nobody, and from foreign holders.
func TestAnOperatorNamesTheHolder(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(patient))
	if u := takeAway(t, c, "free", admin.UnlockOptions{}); len(u.Holders) != 0 {
		t.Errorf("took a free lock from %v", u.Holders)
	}
	l := lock(t, s.client(patient), "x")
	_, err := admin.Unlock(t.Context(), c, "x", admin.UnlockOptions{Owners: []string{"web-3~k~1"}})
	var held *holdfast.HeldError
	if !errors.As(err, &held) || held.Holder().Owner != l.Owner() {
		t.Errorf("another owner: %v", err)
	}
	if err := l.Extend(t.Context(), settings().MaxTTL); err != nil {
		t.Error(err)
	}
	for _, srv := range s.servers {
		srv.MustDo(t, "SET", "foreign", "someone", "PX", 60_000)
	}
	if _, err := admin.Unlock(t.Context(), c, "foreign", admin.UnlockOptions{}); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("a foreign lock: %v", err)
	}
	for _, srv := range s.servers[:2] {
		srv.Kill()
	}
	if _, err := admin.Unlock(t.Context(), c, "x", admin.UnlockOptions{}); !errors.Is(err, holdfast.ErrUnavailable) {
		t.Errorf("without a quorum: %v", err)
	}
}

// The old holder is cut off from the nodes when its lock is taken away. It comes back before its deadline, and its
// renewals bring the lease back nowhere, also to a node that the operator did not reach.
func TestARenewalDoesNotUndoAnOperator(t *testing.T) {
	t.Parallel()
	for what, take := range map[string]func(*holdfast.Mutex, context.Context) (*holdfast.Lease, error){
		"a writer": (*holdfast.Mutex).Lock, "a reader": (*holdfast.Mutex).RLock,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 3)
			operator := s.ready(s.client(steady))
			l, err := take(s.client(steady).Mutex("x"), t.Context())
			if err != nil {
				t.Fatal(err)
			}
			redistest.Eventually(t, 10*time.Second, "all nodes to have the lock", func() bool {
				if err := l.Extend(t.Context(), 5*time.Minute); err != nil { // it repairs a node that was late
					t.Fatal(err)
				}
				st, err := operator.Status(t.Context(), "x")
				return err == nil && !slices.ContainsFunc(st.Nodes, func(n verdict.Answer) bool { return !n.Held() })
			})
			s.servers[2].Freeze()
			u := takeAway(t, operator, "x", admin.UnlockOptions{})
			s.servers[2].Thaw()
			err = l.Extend(t.Context(), 5*time.Minute)
			var lost *holdfast.LostError
			if !errors.As(err, &lost) || !lost.Forced {
				t.Errorf("a renewal of the old holder: %v", err)
			}
			for i := range 2 {
				if r, ok := s.record(i, "x"); !ok || r.Owner != "" {
					t.Errorf("node %d has the lease again: %+v", i, r)
				}
				if entry, _ := s.servers[i].Do("HGET", nodescript.ReadersKey(nodescript.RecordKey("x")), l.Owner()); entry != nil {
					t.Errorf("node %d has the reader again: %v", i, entry)
				}
			}
			if st, err := operator.Status(t.Context(), "x"); err != nil || st.Held {
				t.Errorf("after %v: %+v, %v", u, st, err)
			}
			if next := lock(t, s.client(steady), "x"); next.Fence() <= l.Fence() {
				t.Errorf("token %d after %d", next.Fence(), l.Fence())
			}
		})
	}
}

// An answer of a node lists 100 readers. An operator takes the lock away from all of them, also if there are more.
func TestAnOperatorTakesALockAwayFromManyReaders(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	operator := s.ready(s.client(slackened))
	l, err := s.client(steady).Mutex("x").RLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hash := nodescript.ReadersKey(nodescript.RecordKey("x"))
	const more = 250
	for _, srv := range s.servers {
		entry := srv.MustDo(t, "HGET", hash, l.Owner())
		args := []any{"HSET", hash}
		for i := range more {
			args = append(args, fmt.Sprintf("host~client%d~1-%d~r", i, i), entry)
		}
		srv.MustDo(t, args...)
	}
	if st, err := operator.Status(t.Context(), "x"); err != nil || st.Readers != more+1 || len(st.Holders) != 100 {
		t.Fatalf("%d of %d readers, %v", len(st.Holders), st.Readers, err)
	}
	u := takeAway(t, operator, "x", admin.UnlockOptions{})
	st, err := operator.Status(t.Context(), "x")
	if err != nil || st.Held || len(u.Holders) != more+1 {
		t.Errorf("took the lock away from %d of %d readers; it is held: %t, %v", len(u.Holders), more+1, st.Held, err)
	}
}
