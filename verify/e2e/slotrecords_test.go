package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// A lock whose name looks like a slot's key is not a holder of that slot.
func TestTheStatusOfASemaphoreShowsNoLock(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client(patient))
	name := nodescript.SlotKey("x", 0) + ":plain"
	lock(t, c, name)
	st, err := c.Semaphore("x", 2).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.Held {
		t.Errorf("with a lock of the name %q and a semaphore that nobody uses, the status shows %+v", name, st.Holders)
	}
}

// The error for a corrupt slot names the key of the slot. It must not advise to delete the record of the lock with the
// same name, which somebody may hold.
func TestTheErrorForACorruptSlotNamesItsKey(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client(patient))
	lock(t, c, "x")
	s.servers[0].MustDo(t, "SET", nodescript.SlotKey("x", 0), "something else")
	_, err := c.Semaphore("x", 1).TryAcquire(t.Context())
	if err == nil || !strings.Contains(err.Error(), nodescript.SlotKey("x", 0)) || strings.Contains(err.Error(), nodescript.RecordKey("x")) {
		t.Errorf("the slot 0 is corrupt, and the lock is held: %v", err)
	}
}

// The record of one slot holds something that Holdfast never wrote. The other slots can still be taken.
func TestACorruptSlotDoesNotShutTheOthers(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string][]any{
		"text": {"SET", nodescript.SlotKey("x", 1), "something else"},
		"list": {"RPUSH", nodescript.SlotKey("x", 1), "something else"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 1)
			c := s.ready(s.client(patient))
			s.servers[0].MustDo(t, spoil...)
			for i := range 32 { // each call draws the slot that it asks for first
				l, err := c.Semaphore("x", 4).TryAcquire(t.Context())
				if err != nil {
					t.Fatalf("3 of 4 slots are free, and call %d gets none: %v", i, err)
				}
				if err := l.Unlock(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// The record of a slot that nobody uses is corrupt on two of three nodes. The status still shows the holder of another
// slot: all nodes know it.
func TestACorruptSlotDoesNotHideTheHoldersOfOthers(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(patient))
	l, err := c.Semaphore("x", 4).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		s.servers[i].MustDo(t, "SET", nodescript.SlotKey("x", (l.Slot()+1)%4), "something else")
	}
	corrupt := nodescript.SlotKey("x", (l.Slot()+1)%4)
	if st, err := c.Semaphore("x", 4).Status(t.Context()); len(st.Holders) != 1 || err == nil || !strings.Contains(err.Error(), corrupt) {
		t.Errorf("%v is held on all nodes, and the status shows %+v, %v; want an error that names %s", l, st.Holders, err, corrupt)
	}
	// An operator can end this holder, although not all slots are known.
	if u, err := admin.Unlock(t.Context(), c, "x", admin.UnlockOptions{Slots: 4, Owners: []string{l.Owner()}}); err != nil || len(u.Holders) != 1 {
		t.Errorf("an operator's unlock of the holder of slot %d: %+v, %v", l.Slot(), u, err)
	}
	if u, err := admin.Unlock(t.Context(), c, "x", admin.UnlockOptions{Slots: 4}); err == nil {
		t.Errorf("an operator's unlock of all holders, which are not known: %+v", u)
	}
}

// Two waiters have a claim of one slot each. If one of them asks for the slot of the other, they exchange the slots.
// The node tells the other one, because nothing else would wake it.
func TestAnExchangeOfSlotsIsToldToTheOther(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	b := s.bare(t, 0)
	x := nodescript.NewSlots("x", 2)
	owner := func(client string) string { return nodescript.NewOwner("a", client, 1, []byte("random")) }
	ticket := func(n int64) string { return nodescript.Micros(n) }
	inbox := s.hears(t, 0, "second")
	s.hears(t, 0, "first")
	T := b.now()
	for slot := range 2 {
		b.says(nodescript.Granted, x.AcquireCall(slot, -1, owner("holder"+nodescript.Micros(int64(slot))), T, 10*time.Second, ""), "a free slot")
	}
	b.says(nodescript.Held, x.AcquireCall(0, -1, owner("first"), T+1, 10*time.Second, ticket(T+1)), "a taken slot")
	b.says(nodescript.Held, x.AcquireCall(1, -1, owner("second"), T+2, 10*time.Second, ticket(T+2)), "a taken slot")
	for slot := range 2 {
		b.says(nodescript.Done, x.ReleaseCall(slot, owner("holder"+nodescript.Micros(int64(slot))), T, true), "a release")
	}
	told := func(slot int) {
		t.Helper()
		for {
			select {
			case m := <-inbox:
				if strings.HasSuffix(m, nodescript.SlotKey("x", slot)) {
					return
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("the second waiter did not hear of slot %d", slot)
			}
		}
	}
	told(1)
	b.says(nodescript.Granted, x.AcquireCall(1, -1, owner("first"), b.now(), 10*time.Second, ticket(T+1)), "the slot of the other")
	told(0)
}
