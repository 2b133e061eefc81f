package nodescript

import (
	"hash/fnv"
	"strconv"
	"sync/atomic"
	"time"
)

// Semaphore makes the calls for the slots of one name. Each of at most K owners can hold one slot. It is safe for
// concurrent use.
type Semaphore struct {
	slots Slots
	line  string       // the key of the line: see [Slot.Line]
	last  atomic.Int32 // 1 + the slot that a lease gave back last; 0: none, or Prefer has returned that slot since
}

// NewSemaphore returns the semaphore with some slots.
func NewSemaphore(s Slots) *Semaphore {
	return &Semaphore{slots: s, line: strconv.Itoa(s.K) + " " + SlotsQueueKey(s.Name)}
}

// Name returns the name of the semaphore, with the client's Config.Prefix before it.
func (s *Semaphore) Name() string { return s.slots.Name }

// K returns the number of slots.
func (s *Semaphore) K() int { return s.slots.K }

// Any returns the kind for an owner that takes any of the slots.
func (s *Semaphore) Any() *Slot { return &Slot{of: s, from: -1} }

// Prefer returns the slot that an owner asks for first. This is the slot that a lease of this process gave back last,
// because it is probably free. If there is none, it is a slot that depends on the owner. So different owners start
// with different slots.
func (s *Semaphore) Prefer(owner string) int {
	if last := s.last.Swap(0); last > 0 {
		return int(last - 1)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(owner))
	return int(h.Sum32() % uint32(s.slots.K))
}

// Slot is the kind of one slot of a semaphore. Each slot has its own record. All slots of a semaphore have one queue.
type Slot struct {
	of   *Semaphore
	slot int
	from int // the slot from which the owner moves to this one; -1: none
}

// Slots returns the slots of the semaphore.
func (s *Slot) Slots() *Semaphore { return s.of }

// At returns the kind of a slot for an owner. The parameter from is the slot that the owner leaves, or -1 if it does
// not move.
func (s *Slot) At(slot, from int) *Slot { return &Slot{s.of, slot, from} }

// Slot returns the slot, counted from 0.
func (s *Slot) Slot() int { return s.slot }

// Name implements [Kind].
func (s *Slot) Name() string { return s.of.Name() }

// Line implements [Kind]. Two semaphores with the same name and different numbers of slots have different lines. In a
// common line, a caller that can use more slots could wait behind one that cannot use any free slot.
func (s *Slot) Line() string { return s.of.line }

// Shares implements [Kind].
func (s *Slot) Shares() bool { return true }

// Owner implements [Kind].
func (s *Slot) Owner(owner string) string { return owner }

// Acquire implements [Kind].
func (s *Slot) Acquire(owner string, token int64, ttl time.Duration) Call {
	return s.of.slots.AcquireCall(s.slot, s.from, owner, token, ttl, "")
}

// Queue implements [Kind].
func (s *Slot) Queue(owner string, token int64, ttl time.Duration, ticket int64) Call {
	return s.of.slots.AcquireCall(s.slot, s.from, owner, token, ttl, Micros(ticket))
}

// Pass implements [Kind].
func (s *Slot) Pass(owner string, token int64, ttl time.Duration, from string) Call {
	return s.of.slots.AcquireCall(s.slot, s.from, owner, token, ttl, from)
}

// Abort implements [Kind].
func (s *Slot) Abort(owner string, highest int64) Call {
	return s.of.slots.ReleaseCall(s.slot, owner, highest, false)
}

// Move returns the call that gives back the partial grants of this slot, because the owner moves to another slot. The
// owner keeps its place in the queue.
func (s *Slot) Move(owner string, highest int64) Call {
	return s.of.slots.MoveCall(s.slot, owner, highest)
}

// Quit implements [Kind].
func (s *Slot) Quit(owner string) Call { return s.of.slots.QuitCall(owner) }

// Extend implements [Kind].
func (s *Slot) Extend(owner string, token, stamp, deadline int64, ttl, window time.Duration) Call {
	return ExtendCall(s.of.slots.Lock(s.slot), owner, token, stamp, deadline, ttl, window)
}

// Release implements [Kind].
func (s *Slot) Release(owner string, highest int64) Call {
	s.of.last.Store(int32(s.slot + 1))
	return s.of.slots.ReleaseCall(s.slot, owner, highest, true)
}

// Leave implements [Kind].
func (s *Slot) Leave(owner string, token, until int64) Call {
	return LeaveCall(s.of.slots.Lock(s.slot), owner, token, until)
}

// LeaveGap implements [Kind]. Other libraries do not use slots, so LeaveGap is never called for a slot.
func (s *Slot) LeaveGap(owner string, token, until int64) Call {
	return s.Leave(owner, token, until)
}

// EndGap implements [Kind].
func (s *Slot) EndGap(owner string, highest int64) Call {
	return s.of.slots.ReleaseCall(s.slot, LeftOwner(owner), highest, true)
}
