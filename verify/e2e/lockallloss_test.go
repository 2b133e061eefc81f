package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// steal deletes a lock on all nodes.
func (s *set) steal(name string) {
	s.t.Helper()
	for _, srv := range s.servers {
		srv.MustDo(s.t, "DEL", name, nodescript.RecordKey(name))
	}
}

func TestTheLossOfOneLockEndsTheSet(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		c := s.ready(s.client(calm))
		set, err := c.LockAll(t.Context(), []string{"a", "b", "c"})
		if err != nil {
			t.Fatal(err)
		}
		s.steal("b")
		select {
		case <-set.Context().Done():
		case <-time.After(20 * time.Second):
			t.Fatal("the set goes on without b")
		}
		var lost *holdfast.LostError
		if cause := context.Cause(set.Context()); !errors.As(cause, &lost) || lost.Name != "b" || !errors.Is(cause, holdfast.ErrLost) {
			t.Errorf("the cause is %v; want the loss of b", cause)
		}
		for _, name := range []string{"a", "c"} {
			if s.clean(name, all(len(s.servers))...) {
				t.Errorf("%s was given back before Unlock", name)
			}
		}
		err = set.Unlock(t.Context())
		if !errors.Is(err, holdfast.ErrLost) || !strings.Contains(err.Error(), `"b"`) || strings.Contains(err.Error(), `"a"`) {
			t.Errorf("Unlock: %v; want ErrLost, for b only", err)
		}
		s.forgetAll([]string{"a", "c"})
	})
}

// The call loses one lock while it waits for another. It gives up, and leaves no trace.
func TestALossWhileOthersAreWaitedForEndsTheCall(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		c, other := s.ready(s.client(calm)), s.ready(s.client(calm))
		lock(t, other, "m")
		got, waits := make(chan error, 1), make(chan struct{})
		waiting := sync.OnceFunc(func() { close(waits) })
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			_, err := c.LockAll(ctx, []string{"a", "b", "m", "z"}, holdfast.OnWait(func(error) { waiting() }))
			got <- err
		}()
		<-waits
		s.steal("a")
		var err error
		select {
		case err = <-got:
		case <-time.After(20 * time.Second):
			t.Fatal("the call goes on without a")
		}
		var lost *holdfast.LostError
		if !errors.As(err, &lost) || lost.Name != "a" || errors.Is(err, holdfast.ErrHeld) || !strings.Contains(err.Error(), `while lock "m" was waited for`) {
			t.Errorf("LockAll: %v; want the loss of a", err)
		}
		s.forgetAll([]string{"a", "b", "z"})
	})
}

// Calls for several locks are cancelled at random moments, on a slow network. They leave no trace.
func TestACancelledCallForSeveralLocksLeavesNothing(t *testing.T) {
	t.Parallel()
	const delay = 100 * time.Millisecond
	s := newSet(t, 5)
	net := s.network()
	c, other := s.ready(s.client(net.via(t, viaRueidis), slow)), s.ready(s.client(slow))
	holder := lock(t, other, "held")
	net.all(func(p *redistest.Proxy) { p.DelayRequests(delay / 2); p.DelayReplies(delay / 2) })
	var wait sync.WaitGroup
	var names []string
	for i := range 40 {
		mine := []string{fmt.Sprint("a", i), fmt.Sprint("b", i), fmt.Sprint("z", i)}
		names = append(names, mine...)
		if i%2 == 0 {
			mine = append(mine, "held")
		}
		wait.Go(func() {
			ctx, cancel := context.WithTimeoutCause(t.Context(), rand.N(4*delay), errOwn)
			defer cancel()
			take := c.LockAll
			if i%4 > 1 {
				take = c.TryLockAll
			}
			set, err := take(ctx, mine)
			switch {
			case err == nil:
				set.Unlock(t.Context())
			case !errors.Is(err, errOwn) && !errors.Is(err, holdfast.ErrHeld):
				t.Errorf("%q: %v", mine, err)
			}
		})
	}
	wait.Wait()
	s.forgetAll(names)
	if err := holder.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	s.forgetAll([]string{"held"})
}

// LockAll has some of its locks while it waits for another one. If OnWait panics then, these locks are given back.
func TestAPanicInOnWaitGivesBackTheOtherLocks(t *testing.T) {
	t.Parallel()
	inTurn(t, func(t *testing.T, s *set) {
		c, other := s.ready(s.client()), s.ready(s.client())
		lock(t, other, "b")
		func() {
			defer func() {
				if p := recover(); p != errOwn {
					t.Errorf("LockAll ended with the panic %v", p)
				}
			}()
			_, err := c.LockAll(t.Context(), []string{"a", "b"}, holdfast.OnWait(func(error) { panic(errOwn) }))
			t.Errorf("LockAll returned %v", err)
		}()
		l, err := other.Mutex("a").TryLock(t.Context())
		if err != nil {
			t.Fatalf("after the panic: %v", err)
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Unlock gives back every lock, although one of the releases fails.
func TestUnlockGivesBackTheOthers(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(longLived))
	set, err := c.LockAll(t.Context(), []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	s.steal("a")
	s.steal("c")
	err = set.Unlock(t.Context())
	if !errors.Is(err, holdfast.ErrLost) || !strings.Contains(err.Error(), `"a"`) || !strings.Contains(err.Error(), `"c"`) || strings.Count(err.Error(), "holdfast:") != 1 || strings.Contains(err.Error(), "\n") {
		t.Errorf("Unlock: %v; want one line about a and c", err)
	}
	s.forgetAll([]string{"a", "b", "c"})

	kept, err := c.LockAll(t.Context(), []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.UnlockAt(t.Context(), time.Now().Add(5*time.Second)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		_, err := c.Mutex(name).TryLock(t.Context())
		var held *holdfast.HeldError
		if !errors.As(err, &held) || !held.Holder().Left {
			t.Errorf("%s after UnlockAt: %v", name, err)
		}
	}
}

// A client reports a set that is dropped without Unlock, as it reports a lease, even if the set's context was used.
func TestASetDroppedWithoutUnlockIsReported(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	var log written
	c := s.ready(s.client(calm, logging(&log)))
	func() {
		set, err := c.LockAll(t.Context(), []string{"dropped/a", "dropped/b"})
		if err != nil {
			t.Fatal(err)
		}
		_, cancel := context.WithCancel(set.Context())
		cancel()
	}()
	redistest.Eventually(t, 10*time.Second, "a word about the dropped leases", func() bool {
		runtime.GC()
		return strings.Contains(log.String(), "name=dropped/a") && strings.Contains(log.String(), "name=dropped/b")
	})
}
