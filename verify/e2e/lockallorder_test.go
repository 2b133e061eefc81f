package e2e

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A caller that holds a lock does not wait for a lower lock that another caller holds, because that caller may wait for
// the lock of this caller.
func TestALockBelowAHeldOneIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c, other := s.ready(s.client(calm)), s.ready(s.client(calm, func(c *holdfast.Config) { c.Label = "web-3" }))
	within, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	m, err := c.LockAll(within, []string{"m"})
	if err != nil {
		t.Fatal(err)
	}
	holder := lock(t, other, "b")

	_, err = c.LockAll(m.Context(), []string{"z", "b", "a"})
	var held *holdfast.HeldError
	if !errors.Is(err, holdfast.ErrOrder) || !errors.As(err, &held) || held.Name != "b" || held.Holder().Owner != holder.Owner() {
		t.Errorf("a lower name that is held: %v; want ErrOrder, and that web-3 has b", err)
	}
	s.forgetAll([]string{"a", "z"})
	if _, err := c.TryLockAll(m.Context(), []string{"b", "a"}); !errors.Is(err, holdfast.ErrHeld) || errors.Is(err, holdfast.ErrOrder) {
		t.Errorf("TryLockAll, which does not wait: %v", err)
	}
	// A call that waits takes names below m if they are free.
	free, err := c.LockAll(m.Context(), []string{"a", "c"})
	if err != nil {
		t.Fatalf("lower names that are free: %v", err)
	}
	free.Unlock(t.Context())
	// The context belongs to a set that has ended. So only the lock m, which is outside that set, counts for the order.
	soon, stop := context.WithTimeout(context.WithoutCancel(free.Context()), 200*time.Millisecond)
	defer stop()
	if _, err := c.LockAll(soon, []string{"b"}); !errors.Is(err, holdfast.ErrOrder) {
		t.Errorf("below m, in the context of a set that is over: %v", err)
	}
	// The call waits for names above m.
	high := lock(t, other, "x")
	got := make(chan error, 1)
	go func() {
		set, err := c.LockAll(m.Context(), []string{"x", "n"})
		if err == nil {
			err = set.Unlock(t.Context())
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("a higher name that is held: %v; want a wait", err)
	case <-time.After(300 * time.Millisecond):
	}
	high.Unlock(t.Context())
	if err := <-got; err != nil {
		t.Error(err)
	}
	m.Unlock(t.Context())
	over := context.WithoutCancel(m.Context())
	bounded, stop := context.WithTimeout(over, 200*time.Millisecond)
	defer stop()
	if _, err := c.LockAll(bounded, []string{"b"}); errors.Is(err, holdfast.ErrOrder) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("when m is released: %v; want a wait", err)
	}
}

// Two nested callers take their locks in opposite orders. Both callers end, because one of them gets an error.
func TestNestedCallersInOppositeOrdersEnd(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	clients := []*holdfast.Client{s.ready(s.client(calm)), s.ready(s.client(calm))}
	for range 20 {
		var wait sync.WaitGroup
		refused := make([]bool, 2)
		for i, order := range [][]string{{"a", "b"}, {"b", "a"}} {
			wait.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				err := clients[i].DoAll(ctx, order[:1], func(ctx context.Context) error {
					<-time.After(5 * time.Millisecond)
					return clients[i].DoAll(ctx, order[1:], func(context.Context) error { return nil })
				})
				refused[i] = errors.Is(err, holdfast.ErrOrder)
				if err != nil && !refused[i] {
					t.Errorf("%q: %v", order, err)
				}
			})
		}
		wait.Wait()
		if refused[0] {
			t.Error("the caller in sorted order was refused")
		}
		if t.Failed() {
			return
		}
	}
}

// The locks of a set are reentrant, alone and in other sets. The set gives back its locks when its last handle is
// released.
func TestSetsUnderSets(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c, other := s.ready(s.client(longLived)), s.ready(s.client(longLived))
	outer, err := c.LockAll(t.Context(), []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	one, err := c.Mutex("a").Lock(outer.Context())
	if err != nil || one.Fence() != outer.Fence("a") {
		t.Fatalf("a under its set: %v", err)
	}
	one.Unlock(t.Context())
	inner, err := c.LockAll(outer.Context(), []string{"d", "c", "a"})
	if err != nil {
		t.Fatal(err)
	}
	if inner.Fence("a") != outer.Fence("a") || inner.Fence("c") != outer.Fence("c") || inner.Fence("d") == 0 {
		t.Error("the inner set has other tokens than the outer one")
	}
	if _, err := c.LockAll(outer.Context(), []string{"a"}, holdfast.Reentrant(false)); !errors.Is(err, holdfast.ErrReentrant) {
		t.Errorf("Reentrant(false): %v", err)
	}
	// A sibling is another call under the same outer set. It waits in this process until the handles of its names are
	// released. This causes no deadlock, although the outer set also has higher names.
	if _, err := c.TryLockAll(outer.Context(), []string{"a", "b"}); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("a sibling that does not wait: %v", err)
	}
	sibling := make(chan error, 1)
	go func() {
		set, err := c.LockAll(outer.Context(), []string{"a", "b"})
		if err == nil {
			err = set.Unlock(t.Context())
		}
		sibling <- err
	}()
	select {
	case err := <-sibling:
		t.Fatalf("a sibling: %v; want that it waits for the handle of a", err)
	case <-time.After(200 * time.Millisecond):
	}
	// A sibling also does not wait for a handle if it has a handle of a higher name.
	above, err := c.Mutex("b").Lock(outer.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.LockAll(above.Context(), []string{"a"}); !errors.Is(err, holdfast.ErrOrder) {
		t.Errorf("a handle of a under a handle of b: %v; want ErrOrder", err)
	}
	above.Unlock(t.Context())
	if err := outer.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if cause := context.Cause(outer.Context()); !errors.Is(cause, holdfast.ErrReleased) {
		t.Errorf("the outer set's context ended by %v", cause)
	}
	if inner.Context().Err() != nil {
		t.Error("the inner set ended with the outer one")
	}
	if err := <-sibling; !errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("a sibling whose set is over: %v", err)
	}
	for name, free := range map[string]bool{"a": false, "b": true, "c": false, "d": false} {
		l, err := other.Mutex(name).TryLock(t.Context())
		if (err == nil) != free {
			t.Errorf("%s, while the inner set holds a, c and d: %v", name, err)
		}
		if err == nil {
			l.Unlock(t.Context())
		}
	}
	if err := inner.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := other.TryLockAll(t.Context(), []string{"a", "b", "c", "d"})
	if err != nil {
		t.Fatal(err)
	}
	all.Unlock(t.Context())
}
