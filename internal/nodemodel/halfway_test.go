package nodemodel

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// The tests of this file make a key have another type, so that a call fails. The call must then have changed no key:
// see whole. Random operations check this, too.

// hash makes a key a hash on both sides.
func (w *world) hash(key string) {
	w.t.Helper()
	w.wire.must("DEL", key)
	w.model.Del(key)
	w.both(func(n *Node) { n.HSet(key, "f", "1") }, "HSET", key, "f", "1")
}

// If an operator's release cannot store its note, the lease goes on.
func TestAnOperatorsReleaseWithoutItsNoteEndsNoLease(t *testing.T) {
	for what, owner := range map[string]string{"a writer": ann, "a reader": amy} {
		t.Run(what, func(t *testing.T) {
			w := voting(t)
			T, key := w.now, nodescript.ForcedKey(nodescript.RecordKey(lock.Name))
			w.says("G0", nodescript.AcquireCall(lock, owner, T, 10*time.Second))
			w.both(func(n *Node) { n.Set(key, "none", time.Hour) }, "SET", key, "none", "PX", "3600000")
			w.forced("(WRONGTYPE)", owner, T)
			w.says("E", extends(owner, T, T+1000))
		})
	}
}

// semaphoreOfTwo returns a voting world in which ann has the first of two slots since T.
func semaphoreOfTwo(t *testing.T) (w *world, s nodescript.Slots, T int64) {
	w = voting(t)
	before := universe
	t.Cleanup(func() { universe = before })
	s = nodescript.NewSlots("x", 2)
	universe = append(universe, nodescript.SlotsQueueKey("x"), nodescript.SlotKey("x", 0), nodescript.SlotKey("x", 1))
	T = w.now
	w.says("G0", s.AcquireCall(0, -1, ann, T, 10*time.Second, ""))
	return w, s, T
}

// claimLost returns a world in which cid has a claim of slot 1, whose key then got another type.
func claimLost(t *testing.T) (w *world, s nodescript.Slots, T int64) {
	w, s, T = semaphoreOfTwo(t)
	w.listen(nodescript.Inbox(client(cid)), true)
	w.says("G0", s.AcquireCall(1, -1, bob, T, 10*time.Second, ""))
	w.says("Hl", s.AcquireCall(0, -1, cid, T+1, 10*time.Second, nodescript.Micros(T+1)))
	w.says("D", s.ReleaseCall(1, bob, T, true))
	w.hash(nodescript.SlotKey("x", 1))
	w.at(T + 100_000)
	return w, s, T
}

func TestAnOwnerLeavesTheQueueWithAClaimThatCannotBeRead(t *testing.T) {
	w, s, _ := claimLost(t)
	w.says("D", s.QuitCall(cid))
	if q, _ := w.model.queue(nodescript.SlotsQueueKey("x")); len(q) > 0 {
		t.Errorf("%v wait", q)
	}
}

// A slot whose key has another type does not stop its owner from asking for the others.
func TestAClaimThatCannotBeReadIsNoClaim(t *testing.T) {
	w, s, T := claimLost(t)
	w.says("Hl0000000009900000000000----"+ann, s.AcquireCall(0, -1, cid, T+100_000, 10*time.Second, nodescript.Micros(T+1)))
	w.says("D", s.ReleaseCall(0, ann, T, true))
	w.says("G0", s.AcquireCall(0, 1, cid, T+100_001, 10*time.Second, nodescript.Micros(T+1)))
}

// ann moves to the other slot, and the key of the queue has another type. The node must not grant the slot and then
// fail.
func TestAMoveThatTheQueueRefusesTakesNoSlot(t *testing.T) {
	w, s, T := semaphoreOfTwo(t)
	key := nodescript.SlotsQueueKey("x")
	w.both(func(n *Node) { n.Set(key, "none", time.Hour) }, "SET", key, "none", "PX", "3600000")
	w.says("(WRONGTYPE)", s.AcquireCall(1, 0, ann, T+10, 10*time.Second, nodescript.Micros(T)))
	w.says("D", s.ReleaseCall(0, ann, T, true))
}

// The key of the free slot has another type. No claim may replace what another program has stored there.
func TestASlotOfAnotherTypeIsNotFree(t *testing.T) {
	w, s, T := semaphoreOfTwo(t)
	w.listen(nodescript.Inbox(client(bob)), true)
	w.hash(nodescript.SlotKey("x", 1))
	w.says("Hl0000000010000000000000----"+ann, s.AcquireCall(0, -1, bob, T, 10*time.Second, nodescript.Micros(T)))
	w.says("Hl0000000010000000----------"+ann, s.AcquireCall(0, -1, cid, T, 10*time.Second, ""))
}
