package e2e

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// This file moves hash slots while their names are in use.

// Held names move from shard to shard and back. Nobody else gets them meanwhile.
func TestLeasesAndValuesFollowTheirSlots(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	each := 10
	if !testing.Short() {
		each = 334
	}
	list := names("n", each)
	client, other := c.client(), c.client()
	leases := map[string]*holdfast.Lease{}
	for _, name := range list {
		l := lock(t, client, name)
		if err := l.Store(t.Context(), []byte(name)); err != nil {
			t.Fatal(err)
		}
		leases[name] = l
	}
	masters := c.Servers()
	for round := range 3 { // each slot is on each shard, and one of the moves brings it to where it was
		for i, name := range list {
			c.move(masters[(i+round)%3], name)
			if _, err := other.Mutex(name).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) && !errors.Is(err, holdfast.ErrUnavailable) {
				t.Fatalf("TryLock of %q, which is held, after a move: %v", name, err)
			}
		}
		for _, name := range list {
			lives(t, leases[name])
		}
	}
	for i, name := range list {
		l := leases[name]
		if i < 30 { // after the moves, too
			renews(t, l)
		}
		var v []byte
		var err error
		redistest.Eventually(t, 30*time.Second, "an answer in time on a busy machine", func() bool {
			v, err = l.Load(t.Context())
			return !errors.Is(err, holdfast.ErrUnavailable)
		})
		if err != nil || string(v) != name {
			t.Errorf("the value of %q is %q, %v", name, v, err)
		}
		if _, err := other.Mutex(name).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("TryLock of %q, which is held: %v, want ErrHeld", name, err)
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Errorf("Unlock of %q: %v", name, err)
		}
		next, err := other.Mutex(name).TryLock(t.Context())
		if err != nil {
			t.Errorf("TryLock of %q, which is free: %v", name, err)
		} else if next.Fence() <= l.Fence() {
			t.Errorf("%q: the token %d comes after %d", name, next.Fence(), l.Fence())
		}
	}
}

func TestSemaphoresAndReadersFollowTheirSlots(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	a, b := c.client(), c.client()
	list := names(t.Name(), 1)
	semaphore, readers := list[0], list[1]
	slot, err := a.Semaphore(semaphore, 1).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reader, err := a.Mutex(readers).RLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, name := range list[:2] {
			c.move(c.other(name), name)
		}
		renews(t, slot, reader)
		if _, err := b.Semaphore(semaphore, 1).TryAcquire(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("TryAcquire of the only slot: %v, want ErrHeld", err)
		}
		if _, err := b.Mutex(readers).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("TryLock beside a reader: %v, want ErrHeld", err)
		}
		second, err := b.Mutex(readers).TryRLock(t.Context())
		if err != nil {
			t.Fatalf("a second reader: %v", err)
		}
		if err := second.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, l := range []*holdfast.Lease{slot, reader} {
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestAWaiterKeepsItsPlaceWhenItsSlotMoves(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	name := names(t.Name(), 1)[0]
	holder := lock(t, c.client(), name)
	const n = 4
	waiters := map[string]chan *holdfast.Lease{} // by label
	for i := range n {
		label := fmt.Sprint("waiter", i)
		client := c.client(func(cfg *holdfast.Config) { cfg.Label = label })
		waiters[label] = eventually(t, client.Mutex(name).Lock)
		c.inLine(name, int64(i+1))
	}
	line := c.line(name) // the clients' clocks may differ by more than the time between two of them
	for range 3 {
		c.move(c.other(name), name)
		c.hears(name, n)
		if now := c.line(name); !slices.Equal(now, line) {
			t.Fatalf("after a move the line is %v, and was %v", now, line)
		}
	}
	last := holder.Fence()
	if err := holder.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, label := range line {
		for _, later := range line[i+1:] {
			if len(waiters[later]) > 0 {
				t.Errorf("%s overtook %s", later, label)
			}
		}
		l := comes(t, waiters[label], label)
		if l.Fence() <= last {
			t.Errorf("%s has the token %d, after %d", label, l.Fence(), last)
		}
		last = l.Fence()
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// The holder releases the lock on the new shard, and the waiter, which joined the queue of the old one, gets it.
func TestAReleaseAfterAMoveReachesTheWaiter(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	a, b := c.client(), c.client()
	for _, name := range names(t.Name(), 1) {
		l := lock(t, a, name)
		waiter := eventually(t, b.Mutex(name).Lock)
		c.inLine(name, 1)
		c.move(c.other(name), name) // the waiter may not have noticed it when the release comes
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if err := comes(t, waiter, "the waiter").Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A slot is half moved: some of its keys have left the source. Nobody gets a name in it that is held.
func TestAHalfMovedSlotLosesNothing(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	a, b := c.client(), c.client()
	name := names(t.Name(), 1)[0]
	beside := name + "-beside{" + name + "}" // in the same slot
	if redistest.Slot(beside) != redistest.Slot(name) {
		t.Fatal("the names are in different slots")
	}
	leases := []*holdfast.Lease{lock(t, a, name), lock(t, a, beside)}
	nobody := func(where string) {
		t.Helper()
		for range 2 {
			for _, held := range []string{name, beside} {
				if _, err := b.Mutex(held).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) && !errors.Is(err, holdfast.ErrUnavailable) {
					t.Fatalf("TryLock of %q, which is held, %s: %v", held, where, err)
				}
			}
		}
	}
	for range 2 { // there, and back
		move, err := c.BeginMove(t.Context(), redistest.Slot(name), c.other(name))
		if err != nil {
			t.Fatal(err)
		}
		nobody("before its keys move")
		for {
			n, err := move.Keys(t.Context(), 2)
			if err != nil {
				t.Fatal(err)
			}
			nobody("while its keys move")
			if n < 2 {
				break
			}
		}
		c.finish(move)
		nobody("after the move")
		renews(t, leases...)
	}
	for _, l := range leases {
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A new master gets slots with held names, and gives all of them away again. It then has no slots, and becomes a replica.
// A replica proves nothing, so the slots must have been admitted on their new shards before.
func TestAShardJoinsAndLeaves(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	a, b := c.client(), c.client()
	list := names("n", 3)
	held, last := list[:6], list[6:7]
	var leases []*holdfast.Lease
	for _, name := range held {
		leases = append(leases, lock(t, a, name))
	}
	joined := c.AddMaster()
	c.AwaitSettled()
	c.move(joined, held...)
	c.move(joined, last...)
	renews(t, leases...)
	for _, name := range held {
		if _, err := b.Mutex(name).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("TryLock of %q on the new shard: %v, want ErrHeld", name, err)
		}
	}
	waiter := eventually(t, b.Mutex(held[0]).Lock)
	c.inLine(held[0], 1)
	for i, name := range held {
		c.move(c.Servers()[i%3], name)
	}
	renews(t, leases...)
	c.move(c.Servers()[0], last...)
	redistest.Eventually(t, 20*time.Second, "the master without slots to become a replica", func() bool { return joined.Role() == "slave" })
	for _, l := range leases {
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := comes(t, waiter, "the waiter").Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}
