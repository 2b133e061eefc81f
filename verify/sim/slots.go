package sim

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Semaphores. A slot is a lock of its own for the judges: one holder, tokens, losses, traces. The slots of a semaphore
// share its waiters: the order of service, and how long a slot stays free while somebody waits.

// addSlots adds the semaphores and their slots to the names.
func (w *world) addSlots() {
	for i, k := range w.plan.Slots {
		k += slices.MaxFunc(w.plan.Clients, func(a, b ClientPlan) int { return a.More - b.More }).More
		of, line := w.plan.Names[i], len(w.names)
		queue := nodescript.SlotsQueueKey(of)
		w.names = append(w.names, &name{queue: queue, first: line + 1, k: k})
		for slot := range k {
			w.names = append(w.names, &name{record: nodescript.SlotKey(of, slot), queue: queue, line: line})
		}
	}
}

// index returns the index of the lock or semaphore that an operation takes.
func (w *world) index(op Op) int {
	if !op.Slot {
		return op.Name
	}
	at := len(w.plan.Names)
	for range op.Name {
		at += 1 + w.names[at].k
	}
	return at
}

// parts returns the index of a lock. For a semaphore, or for one of its slots, it returns the indices of the semaphore
// and of all its slots.
func (w *world) parts(name int) iter.Seq[int] {
	return func(yield func(int) bool) {
		n := w.names[name]
		if n.line != 0 {
			name = n.line
			n = w.names[name]
		}
		for i := range n.k + 1 {
			if !yield(name + i) {
				return
			}
		}
	}
}

// freeAll notes that a lock, or all slots of a semaphore, are free at the latest from the time at. The caller holds
// w.mu.
func (w *world) freeAll(name int, at time.Duration) {
	for i := range w.parts(name) {
		w.names[i].freeFrom(at)
	}
}

// slotOf returns the index of the slot that a lease has. It checks that the caller may use this slot. The caller holds
// w.mu.
func (w *world) slotOf(x *wait, l lease) int {
	n, slot := w.names[x.name], l.(*holdfast.Lease).Slot()
	if k := w.k(x.h, x.op); slot < 0 || slot >= k {
		w.violated(badSlot, x.name, "client%d/%d was granted slot %d of %d", x.h.slot, x.actor, slot, k)
		return n.first
	}
	return n.first + slot
}

// slot returns the number of the slot with this index, -1 if n is no semaphore.
func (n *name) slot(index int) int {
	if n.k == 0 {
		return -1
	}
	return index - n.first
}

// k returns the number of slots that a call uses.
func (w *world) k(h *host, op Op) int {
	k := w.plan.Slots[op.Name]
	if !h.visitor {
		k += w.plan.Clients[h.slot].More
	}
	return max(k-op.Fewer, 1)
}

// freed returns the time since which the name, or a slot that x can use, is free. It returns now if all such slots are
// held. A slot that was granted at this instant counts as free. The caller holds w.mu.
func (w *world) freed(n *name, x *wait, now time.Duration) time.Duration {
	if n.k == 0 {
		return n.free
	}
	earliest := now
	for _, s := range w.names[n.first : n.first+w.k(x.h, x.op)] {
		if o := s.believer(); o == nil || o.since == now {
			earliest = min(earliest, s.free)
		}
	}
	return earliest
}

// waiter returns the owner of a member of the queue, "" if the member is a claim of a semaphore's slot.
func (n *name) waiter(member string) string {
	if n.record != "" && n.line == 0 || len(member) < slotDigits {
		return member
	}
	return member[slotDigits:]
}

// locker is the object that a goroutine locks: a [holdfast.Mutex], or a [holdfast.Semaphore] as slots.
type locker interface {
	Lock(ctx context.Context) (*holdfast.Lease, error)
	TryLock(ctx context.Context) (*holdfast.Lease, error)
	RLock(ctx context.Context) (*holdfast.Lease, error)
	TryRLock(ctx context.Context) (*holdfast.Lease, error)
	Do(ctx context.Context, fn func(ctx context.Context) error) error
	RDo(ctx context.Context, fn func(ctx context.Context) error) error
}

type slots struct{ *holdfast.Semaphore }

func (s slots) Lock(ctx context.Context) (*holdfast.Lease, error)    { return s.Acquire(ctx) }
func (s slots) TryLock(ctx context.Context) (*holdfast.Lease, error) { return s.TryAcquire(ctx) }

// A slot has no readers: see drawReaders.
func (s slots) RLock(context.Context) (*holdfast.Lease, error)    { panic("a slot has no readers") }
func (s slots) TryRLock(context.Context) (*holdfast.Lease, error) { panic("a slot has no readers") }
func (s slots) RDo(context.Context, func(ctx context.Context) error) error {
	panic("a slot has no readers")
}

// locker returns the object that an operation locks.
func (w *world) locker(h *host, op Op, opts ...holdfast.Option) locker {
	if op.Slot {
		return slots{h.client.Semaphore(w.called(h, op.Name), w.k(h, op), opts...)}
	}
	return h.client.Mutex(w.called(h, op.Name), opts...)
}

// full reports whether all slots of a semaphore have holders. The caller holds w.mu.
func (w *world) full(n *name) bool {
	return !slices.ContainsFunc(w.names[n.first:n.first+n.k], func(s *name) bool { return s.believer() == nil })
}
