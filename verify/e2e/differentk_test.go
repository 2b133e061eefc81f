package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// In these tests callers of one client use different numbers of slots for one name. This happens while a program
// changes k.

// slotAbove takes a slot of a semaphore that is not the first one.
func slotAbove(t *testing.T, c *holdfast.Client, name string, k int) *holdfast.Lease {
	t.Helper()
	for {
		l, err := c.Semaphore(name, k).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if l.Slot() > 0 {
			return l
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A lease passes inside a client only to a waiter that can use its slot. Otherwise two callers that both ask for one
// slot of one would hold it at a time.
func TestASlotPassesOnlyToAWaiterWhoseSlotItIs(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		s := plainSet(t, n)
		c, d := s.ready(s.client(patient)), s.ready(s.client(patient))
		one, err := d.Semaphore("x", 1).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		high := slotAbove(t, c, "x", 50)
		got := make(chan *holdfast.Lease, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 5*window)
		defer cancel()
		go func() {
			l, _ := c.Semaphore("x", 1).Acquire(ctx)
			got <- l
		}()
		s.inLineForSlot("x", 1)
		if err := high.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		if l := <-got; l != nil {
			t.Errorf("%d nodes: a caller with 1 slot got slot %d while another caller with 1 slot held slot %d (its end: %v)",
				n, l.Slot(), one.Slot(), context.Cause(one.Context()))
		}
	}
}

// A waiter whose slots are all held does not keep another caller of its process from a free slot that only that caller
// can use.
func TestAWaiterWithFewSlotsDoesNotBlockCallersWithMore(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c, d := s.ready(s.client(patient)), s.ready(s.client(patient))
	if _, err := d.Semaphore("x", 1).Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { c.Semaphore("x", 1).Acquire(wait) }()
	s.inLineForSlot("x", 1)
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	if _, err := d.Semaphore("x", 50).Acquire(ctx); err != nil {
		t.Fatalf("another process: %v", err)
	}
	if _, err := c.Semaphore("x", 50).Acquire(ctx); err != nil {
		t.Errorf("48 of 50 slots are free, and a caller gets none: %v", err)
	}
}

// A waiter that can use only the first slot does not keep a try of another process from a slot that is free and that
// the waiter cannot use.
func TestAWaiterWithFewSlotsDoesNotFailTriesWithMore(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c, d, e := s.ready(s.client(patient)), s.ready(s.client(patient)), s.ready(s.client(patient))
	if _, err := d.Semaphore("x", 1).Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 24 {
		if _, err := d.Semaphore("x", 50).Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wait, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { c.Semaphore("x", 1).Acquire(wait) }()
	s.inLineForSlot("x", 1)
	failed := 0
	var last error
	for range 40 {
		l, err := e.Semaphore("x", 50).TryAcquire(t.Context())
		if err != nil {
			failed, last = failed+1, err
		} else if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if failed > 0 {
		t.Errorf("25 of 50 slots are free, and %d of 40 tries got none: %v", failed, last)
	}
}

// A caller has one slot of a semaphore at most, also if a function that it calls asks for another number of slots. With
// two slots, callers could wait for each other for ever, and with fewer slots a caller could wait for itself.
func TestACallerHasOneSlotForAnyNumberOfSlots(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client(patient))
	outer := slotAbove(t, c, "x", 50)
	slot := outer.Slot()
	ctx, cancel := context.WithTimeout(outer.Context(), 20*time.Second)
	defer cancel()
	for _, k := range []int{slot + 1, 51, 1024} {
		inner, err := c.Semaphore("x", k).Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if inner.Owner() != outer.Owner() || inner.Slot() != slot {
			t.Errorf("k = %d: %v under %v", k, inner, outer)
		}
		if err := inner.Unlock(ctx); err != nil {
			t.Error(err)
		}
	}
	for _, take := range []func(context.Context) (*holdfast.Lease, error){c.Semaphore("x", slot).Acquire, c.Semaphore("x", slot).TryAcquire} {
		if l, err := take(ctx); !errors.Is(err, holdfast.ErrBadSlots) || !strings.Contains(err.Error(), "larger k") {
			t.Errorf("with %d slots, under slot %d: %v, %v", slot, slot, l, err)
		}
	}
	l, err := c.Mutex("x").Lock(ctx) // a lock of the same name is another lock
	if err != nil || l.Owner() == outer.Owner() {
		t.Errorf("%v, %v", l, err)
	}
}
