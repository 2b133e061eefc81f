package e2e

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// sets runs f on one node and on five nodes, at the same time.
func sets(t *testing.T, f func(t *testing.T, s *set)) {
	sizes(t, func(t *testing.T, n int) {
		t.Parallel()
		f(t, newSet(t, n))
	})
}

// inTurn runs f on one node and then on five nodes, for tests that measure.
func inTurn(t *testing.T, f func(t *testing.T, s *set)) {
	sizes(t, func(t *testing.T, n int) { f(t, newSet(t, n)) })
}

func sizes(t *testing.T, f func(t *testing.T, n int)) {
	for _, n := range []int{1, 5} {
		t.Run(map[int]string{1: "one node", 5: "five nodes"}[n], func(t *testing.T) { f(t, n) })
	}
}

func TestOneOfManyGetsTheLock(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		a, b := s.ready(s.client()), s.client(func(c *holdfast.Config) { c.Label = "web-3" })
		lease := lock(t, a, "orders/42")

		_, err := b.Mutex("orders/42").TryLock(t.Context())
		var held *holdfast.HeldError
		if !errors.Is(err, holdfast.ErrHeld) || !errors.As(err, &held) {
			t.Fatalf("TryLock of a held lock: %v", err)
		}
		if held.Holder().Owner != lease.Owner() || held.Holder().Foreign || held.ExpiresIn <= 0 || held.ExpiresIn > settings().MaxTTL {
			t.Errorf("HeldError does not describe the holder %s: %+v", lease.Owner(), held)
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		next := lock(t, b, "orders/42")
		if next.Fence() <= lease.Fence() {
			t.Errorf("token %d of the next lease is not above %d", next.Fence(), lease.Fence())
		}
		if !strings.HasPrefix(next.Owner(), "web-3~") {
			t.Errorf("owner %q does not begin with the client's label", next.Owner())
		}
	})
}

// Every attempt has its own owner. Otherwise a client could take a lock from itself.
func TestAClientExcludesItself(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		c := s.ready(s.client())
		lease := lock(t, c, "x")
		for range 3 {
			if l, err := c.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
				t.Fatalf("TryLock of the lock that this very client has: %v, %v", l, err)
			}
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestOfSeveralThatTryAtOnceOneGetsIt(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	var clients []*holdfast.Client
	for range 8 {
		clients = append(clients, s.ready(s.client(calm)))
	}
	for round := range 20 {
		var wait sync.WaitGroup
		got := make([]*holdfast.Lease, len(clients))
		for i, c := range clients {
			wait.Go(func() {
				l, err := c.Mutex("nightly").TryLock(t.Context())
				if err != nil && !errors.Is(err, holdfast.ErrHeld) {
					t.Errorf("round %d: %v", round, err)
				}
				got[i] = l
			})
		}
		wait.Wait()
		winners := 0
		for _, l := range got {
			if l != nil {
				winners++
				if err := l.Unlock(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if winners != 1 {
			t.Errorf("round %d: %d clients got the lock; want exactly one", round, winners)
		}
	}
}

func TestUnlockTwiceAndExtendAfterwards(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		l := lock(t, s.ready(s.client()), "x")
		if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := context.Cause(l.Context()); !errors.Is(err, holdfast.ErrReleased) {
			t.Errorf("the lease's context ended with %v", err)
		}
		if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrReleased) {
			t.Errorf("second Unlock: %v", err)
		}
		if err := l.Extend(t.Context(), settings().MaxTTL); !errors.Is(err, holdfast.ErrReleased) {
			t.Errorf("Extend after Unlock: %v", err)
		}
	})
}

func TestAWaitEndsWithItsContextAndSaysWhy(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	a, b := s.ready(s.client()), s.client()
	lock(t, a, "x")
	own := errors.New("own")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := b.Mutex("x", holdfast.OnWait(func(error) { cancel(own) })).Lock(ctx)
	if !errors.Is(err, holdfast.ErrHeld) || !errors.Is(err, own) {
		t.Errorf("a wait that its context ended: %v; want both ErrHeld and the context's cause", err)
	}
	dead, kill := context.WithCancel(t.Context())
	kill()
	if _, err := b.Mutex("y").Lock(dead); !errors.Is(err, context.Canceled) {
		t.Errorf("Lock with a dead context: %v", err)
	}
}

// If several goroutines of a client wait for one name, only the first goroutine in line has attempts to report.
func TestOnWaitIsCalledForTheFirstInLineOnly(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	held := lock(t, s.ready(s.client(calm)), "x")
	defer held.Unlock(t.Context())
	c := s.ready(s.client(calm))
	wait := func(ctx context.Context) <-chan struct{} {
		told := make(chan struct{}, 100)
		go func() {
			_, _ = c.Mutex("x", holdfast.OnWait(func(error) { told <- struct{}{} })).Lock(ctx)
		}()
		return told
	}
	ctx, goAway := context.WithCancel(t.Context())
	first := wait(ctx)
	<-first
	second := wait(t.Context())
	<-first // the first waiter asks once a second
	<-first
	if len(second) > 0 {
		t.Error("the second in line was told of an attempt")
	}
	goAway()
	select {
	case <-second:
	case <-time.After(10 * time.Second):
		t.Error("who has become the first is told nothing")
	}
}

// several is a cause that cannot be compared with ==, because the comparison would panic.
type several []string

func (s several) Error() string { return strings.Join(s, " and ") }

// A caller that checks for context.Canceled does not know the cause that another caller gave. The caller that gave the
// cause checks for that cause. Both checks must succeed.
func TestWhatAContextEndedMatchesItsErrAndItsCause(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client(func(c *holdfast.Config) {
		c.MaxTTL, c.TTL, c.NodeTimeout = 20*time.Second, 20*time.Second, 10*time.Second
	}))
	dead, kill := context.WithCancelCause(t.Context())
	kill(several{"cold", "wet"})
	matches := func(what string, err error, want ...error) {
		t.Helper()
		var cause several
		if !errors.As(err, &cause) || !strings.Contains(err.Error(), "cold and wet") {
			t.Errorf("%s: %v; want the context's cause", what, err)
		}
		for _, w := range want {
			if !errors.Is(err, w) {
				t.Errorf("%s: %v; want one that matches %q", what, err, w)
			}
		}
	}
	_, err := c.Mutex("x").Lock(dead)
	matches("Lock with a dead context", err, context.Canceled)
	_, err = c.Mutex("x").TryLock(dead)
	matches("TryLock with a dead context", err, context.Canceled)

	held, released := lock(t, c, "held"), lock(t, c, "released")
	s.servers[0].Freeze() // the contexts end before the frozen node answers
	short := func() context.Context {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, several{"cold", "wet"})
		t.Cleanup(cancel)
		return ctx
	}
	_, err = c.Mutex("x").Lock(short())
	matches("Lock", err, context.DeadlineExceeded)
	_, err = c.Mutex("x").TryLock(short())
	matches("TryLock", err, context.DeadlineExceeded)
	matches("Extend", held.Extend(short(), 20*time.Second), context.DeadlineExceeded)
	matches("UnlockAt", held.UnlockAt(short(), time.Now().Add(10*time.Second)), context.DeadlineExceeded)
	matches("Unlock", released.Unlock(short()), context.DeadlineExceeded)
	_, err = c.Status(short(), "x")
	matches("Status", err, context.DeadlineExceeded, holdfast.ErrUnavailable)
	_, err = c.Status(dead, "x")
	matches("Status with a dead context", err, context.Canceled, holdfast.ErrUnavailable)
	s.servers[0].Thaw()

	// The end of the lease's own context is no cancellation by the caller.
	if err := released.Unlock(released.Context()); !errors.Is(err, holdfast.ErrReleased) || errors.Is(err, context.Canceled) {
		t.Errorf("Unlock with the ended context of the lease: %v; want ErrReleased", err)
	}
	if err := released.Extend(released.Context(), 20*time.Second); !errors.Is(err, holdfast.ErrReleased) || errors.Is(err, context.Canceled) {
		t.Errorf("Extend with the ended context of the lease: %v; want ErrReleased", err)
	}
}

func TestUnlockAtKeepsTheNameTaken(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		a, b := s.ready(s.client()), s.ready(s.client())
		l := lock(t, a, "job")
		at := time.Now().Add(600 * time.Millisecond)
		if err := l.UnlockAt(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(context.Cause(l.Context()), holdfast.ErrReleased) {
			t.Error("the lease goes on after UnlockAt")
		}
		a.Close() // no client needs to be there when the name becomes free
		next := lock(t, b, "job")
		if early := time.Until(at); early > 5*time.Millisecond {
			t.Errorf("the name was free %s before its time", early)
		}
		if err := next.UnlockAt(t.Context(), time.Now().Add(time.Minute)); err == nil || !strings.Contains(err.Error(), "MaxTTL = 2s") {
			t.Errorf("UnlockAt beyond MaxTTL: %v", err)
		}
		if !errors.Is(context.Cause(next.Context()), holdfast.ErrReleased) {
			t.Error("the lease goes on after UnlockAt beyond MaxTTL")
		}
		if err := next.Unlock(t.Context()); !errors.Is(err, holdfast.ErrReleased) {
			t.Errorf("Unlock after UnlockAt beyond MaxTTL: %v", err)
		}
		again := time.Now()
		lock(t, b, "job")
		if kept := time.Since(again); kept < 1500*time.Millisecond {
			t.Errorf("UnlockAt beyond MaxTTL, which is two seconds, kept the name for %s", kept)
		}
	})
}

func TestCloseGivesBackWhatIsHeld(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		c := s.ready(s.client())
		l := lock(t, c, "x")
		lock(t, c, "y")
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		which := all(len(s.servers))
		if !s.clean("x", which...) || !s.clean("y", which...) {
			t.Error("Close left a lock taken")
		}
		if !errors.Is(context.Cause(l.Context()), holdfast.ErrReleased) {
			t.Error("Close did not end the lease's context")
		}
		if _, err := c.Mutex("z").Lock(t.Context()); !errors.Is(err, holdfast.ErrClosed) {
			t.Errorf("Lock on a closed client: %v", err)
		}
		if err := c.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
	})
}
