package nodescript

import (
	"fmt"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// MostSlots is the largest number of slots of a semaphore. A node without a free slot reads the records of all slots.
// For this number that takes about a millisecond.
const MostSlots = 1024

const (
	slotDigits = 4
	noSlot     = "----"
)

// ofLock returns the operation for locks on which an operation for slots is based, and whether there is one.
func (o Op) ofLock() (Op, bool) {
	switch o {
	case AcquireSlot:
		return Acquire, true
	case ReleaseSlot:
		return Release, true
	}
	return o, false
}

// CheckSlots returns nil if a semaphore can have k slots, otherwise an error.
func CheckSlots(k int) error {
	if k < 1 || k > MostSlots {
		return fmt.Errorf("%d slots; a semaphore has from 1 to %d", k, MostSlots)
	}
	return nil
}

// Slots contains the slots of a semaphore that one caller uses: those below K.
type Slots struct {
	Name string
	K    int

	queue string // the key of the queue
	k     string // K as calls contain it
}

// NewSlots returns the slots below k of a name.
func NewSlots(name string, k int) Slots {
	return Slots{Name: name, K: k, queue: SlotsQueueKey(name), k: fmt.Sprintf("%0*d", slotDigits, k)}
}

// Lock returns a slot as a lock. Extend and leave are the same for a slot and for a lock.
func (s Slots) Lock(slot int) Lock {
	return Lock{Name: s.Name, Private: true, made: []string{SlotKey(s.Name, slot)}}
}

// InspectCall asks for the content of a slot's record, like the function InspectCall. A slot has no plain key, so the
// call names a key that never exists.
func (s Slots) InspectCall(slot int) node.Call {
	return node.Call{Keys: []string{SlotKey(s.Name, slot), noKey(s.Name)}}
}

func (s Slots) keys(slot int) []string { return []string{SlotKey(s.Name, slot), s.queue} }

// noKey returns a key in the hash slot of a semaphore's keys that never exists. It is no name of a lock, because it ends
// like a record.
func noKey(name string) string { return slotsHead(name) + "none" + recordTail }

// AcquireCall asks for a slot. The stamp becomes the token of the lease. wants is "" for an owner that does not wait,
// the ticket of a waiter in the form of [Micros], or the owner that passes its lease of this slot to owner. from is
// the slot from which owner moves, or -1.
func (s Slots) AcquireCall(slot, from int, owner string, stamp int64, ttl time.Duration, wants string) Call {
	r, moves := Record{Seen: stamp, Token: stamp, Expiry: stamp + ttl.Microseconds()}, ""
	if from >= 0 && from != slot {
		moves = strconv.Itoa(from)
	}
	return Call{AcquireSlot, s.keys(slot), []string{r.head(), wants, owner, s.k, strconv.Itoa(slot), moves}}
}

// ReleaseCall gives a slot back and removes owner from the queue: see the function ReleaseCall. won says that one of
// the stamps sent for owner may have won a majority.
func (s Slots) ReleaseCall(slot int, owner string, highest int64, won bool) Call {
	return s.release(strconv.Itoa(slot), owner, highest, won, false)
}

// ForceCall ends the lease of a slot for an operator: see the function ForceCall.
func (s Slots) ForceCall(slot int, owner string, T int64) Call {
	return s.release(strconv.Itoa(slot), owner, T, true, false)
}

// MoveCall gives back the partial grants of a slot, because owner asks for another slot. Owner keeps its place in the
// queue.
func (s Slots) MoveCall(slot int, owner string, highest int64) Call {
	return s.release(strconv.Itoa(slot), owner, highest, false, true)
}

// QuitCall removes owner from the queue of a node that did not grant. If owner has a claim, the next waiter gets the
// slot.
func (s Slots) QuitCall(owner string) Call { return s.release("", owner, 0, false, false) }

// DeclineSlotCall rejects a claim of a slot that owner cannot use.
func DeclineSlotCall(h Handoff) Call {
	return NewSlots(h.Lock.Name, 0).release(strconv.Itoa(h.Slot), h.Owner, 0, false, true)
}

func (s Slots) release(slot, owner string, highest int64, won, stays bool) Call {
	both := micros(highest, highest+1)
	keys := []string{SlotKey(s.Name, 0), s.queue} // if there is no slot, the script does not read this record
	if slot != "" {
		keys[0] = slotsHead(s.Name) + slot + recordTail
	}
	return Call{ReleaseSlot, keys, []string{owner, both[:digits], both[digits:], flag(!won), s.k, slot, flag(stays)}}
}

func flag(is bool) string {
	if is {
		return "1"
	}
	return "0"
}
