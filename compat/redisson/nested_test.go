package redisson

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// A handle is released between the two halves of a call that takes a handle below it. The call must get nothing: the
// place below the outer lease is another handle's by then. Otherwise two handles have one place, or Unlock hangs.
func TestAHandleBelowAReleasedOneIsRefused(t *testing.T) {
	t.Parallel()
	nodes, err := rueidisnode.Open(redistest.Start(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	m := c.Mutex("x")
	lock := func(ctx context.Context) *Lease {
		t.Helper()
		l, err := m.TryLock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	unlock := func(l *Lease) {
		t.Helper()
		done := make(chan error, 1)
		go func() { done <- l.Unlock(context.Background()) }()
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("Unlock hangs")
		}
	}
	outer := lock(t.Context())
	middle := lock(outer.Context())
	middle.slot <- struct{}{} // the first half of nested: the context of middle goes on, and its place is free
	unlock(middle)
	inner, err := middle.hold.newLease(middle.ctx, "x", middle) // the second half
	if err == nil {
		unlock(inner)
		t.Fatal("a handle below a released one")
	}
	if <-middle.slot; !errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("a handle below a released one: %v", err)
	}
	other := lock(outer.Context())
	if n := outer.Count(); n != 2 {
		t.Errorf("%d handles, want 2", n)
	}
	unlock(other)
	unlock(outer)
	if err := c.Close(); err != nil { // not deferred: it would hang with Unlock
		t.Error(err)
	}
}

// A lock with the longest expiry makes no waiter hurry.
func TestAWaitForALockThatHardlyEnds(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	nodes, err := rueidisnode.Open(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s.MustDo(t, "HSET", "x", "somebody:1", "1")
	s.MustDo(t, "PEXPIREAT", "x", "9223372036854775807")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err = c.Mutex("x").Lock(ctx)
	var held *HeldError
	if !errors.As(err, &held) || held.ExpiresIn <= 0 {
		t.Errorf("Lock: %v", err)
	}
	if n := c.threads.Load(); n > 20 {
		t.Errorf("%d attempts in half a second", n)
	}
}
