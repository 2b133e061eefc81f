package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// This file uses names while their hash slots are being moved. The source of such a slot refuses all commands that name a
// missing key.

// Renewals come while the slots are being moved. Half of the moves are cancelled. No lease is lost, and no name is free.
func TestARenewalInASlotThatIsBeingMovedKeepsItsRecord(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	private := func(cfg *holdfast.Config) { cfg.Private = true }
	a, b := c.client(private), c.client(private)
	type take func(c *holdfast.Client, name string) (*holdfast.Lease, error)
	write := func(c *holdfast.Client, name string) (*holdfast.Lease, error) {
		return c.Mutex(name).TryLock(t.Context())
	}
	read := func(c *holdfast.Client, name string) (*holdfast.Lease, error) {
		return c.Mutex(name).TryRLock(t.Context())
	}
	slot := func(c *holdfast.Client, name string) (*holdfast.Lease, error) {
		return c.Semaphore(name, 1).TryAcquire(t.Context())
	}
	list := names("n", 2)
	leases, others, moves := make([]*holdfast.Lease, 6), []take{write, write, slot, write, write, slot}, []*redistest.Move{}
	for i, mine := range []take{write, read, slot, write, read, slot} {
		var err error
		if leases[i], err = mine(a, list[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range list {
		m, err := c.BeginMove(t.Context(), redistest.Slot(name), c.other(name))
		if err != nil {
			t.Fatal(err)
		}
		moves = append(moves, m)
	}
	time.Sleep(5 * time.Second) // each lease is due for a renewal after a third of its TTL, which is 10 s
	for i, m := range moves {
		if i < 3 {
			if err := m.Cancel(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else {
			c.finish(m)
		}
	}
	for i, name := range list {
		redistest.Eventually(t, 30*time.Second, "an answer about a name that is held", func() bool {
			if second, err := others[i](b, name); err == nil {
				t.Fatalf("two holders of %s: tokens %d and %d", name, leases[i].Fence(), second.Fence())
			} else {
				return errors.Is(err, holdfast.ErrHeld)
			}
			return false
		})
		if err := context.Cause(leases[i].Context()); err != nil {
			t.Errorf("the lease of %s was lost: %v", name, err)
		}
	}
}

// A writer asks for a name that had readers, while its slot is being moved. The hash of the readers stays, so the node
// does not believe that it was evicted, and the other leases of the slot go on.
func TestAWriterInASlotThatIsBeingMovedKeepsTheGuard(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	private := func(cfg *holdfast.Config) { cfg.Private = true }
	a, b := c.client(private), c.client(private)
	name := names("n", 1)[0]
	r, err := b.Mutex(name).TryRLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := lock(t, a, name+"-beside{"+name+"}")
	m, err := c.BeginMove(t.Context(), redistest.Slot(name), c.other(name))
	if err != nil {
		t.Fatal(err)
	}
	if w, err := b.Mutex(name).TryLock(t.Context()); err == nil {
		if err := w.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, 5*time.Second, "a writer after the move", func() bool {
		w, err := b.Mutex(name).TryLock(t.Context())
		if err == nil {
			err = w.Unlock(t.Context())
		}
		return err == nil
	})
	deadline := l.Deadline()
	redistest.Eventually(t, 20*time.Second, "the next renewal of another lease", func() bool {
		if err := context.Cause(l.Context()); err != nil {
			t.Fatalf("another lease of the slot was lost: %v", err)
		}
		return leasetest.Renewed(l, deadline)
	})
}
