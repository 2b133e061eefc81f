package sim

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast"
)

// holding is a held lock of a goroutine: a [holdfast.Lease] or a [holdfast.LeaseSet].
type holding interface {
	Context() context.Context
	Deadline() time.Time
	Extend(ctx context.Context, ttl time.Duration) error
	Unlock(ctx context.Context) error
	UnlockAt(ctx context.Context, at time.Time) error
}

// lease is the part of [holdfast.Lease] that the witness uses.
type lease interface {
	Context() context.Context
	Deadline() time.Time
	Fence() int64
	Owner() string
}

var _ lease = (*holdfast.Lease)(nil)

// held is a lease on which its holder relies. The holder relies on it from Lock's return until the lease's context ends
// or the holder releases it.
type held struct {
	h          *host
	actor      int
	name       int
	lease      lease
	ctx        context.Context
	work       context.Context // the context of the work of Do, or of a term; nil: the lease has none
	ttl        time.Duration
	first      time.Duration // the TTL that the grant had
	since      time.Duration
	late       bool          // its OnWait slept, so Lock may have returned long after the grant; the client renews from then on
	given      time.Duration // when the holder released the lease
	over       bool          // the lease was released, or its process is dead
	read       bool          // the holder is a reader
	downgraded bool          // the reader was a writer
	turns      bool          // the writer becomes a reader, and no answer has come yet
	writer     string        // the owner that the reader had as a writer
	close      bool          // Close released the lease
	cap        time.Duration // the latest end of the lease, as known when its host fell asleep
	look       *time.Timer   // the timer of the check that its loss was announced
	also       []*held       // the other leases of its set
	rival      bool          // an operator took the lock away, and mustNotice checks the end of the belief
}

// lost ends the holder's belief after a loss that the lock announced.
func (w *world) lost(l *held, cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.h.dead {
		return
	}
	for _, o := range l.set() {
		w.ended(o, !w.isTaken(o))
		w.readerLeaves(o, 0, cause)
		w.leaves(o.h, o.name, w.now())
	}
	if l.also != nil && errors.Is(cause, holdfast.ErrLost) {
		l = w.lostOf(l, cause)
	}
	switch {
	case errors.Is(cause, holdfast.ErrLost):
		w.note("lost", l.h.slot, l.actor, l.name, 0, 0)
		if w.names[l.name].line != 0 {
			w.result.Tally.Rare[SlotLost]++
		}
		w.result.Tally.Outcomes[Lost]++
		w.toldOfForce(l, cause)
		if w.isForced(l) {
			if b := l.h.owners[l.lease.Owner()]; b != nil && !b.stored {
				w.mustKeep(l)
			}
			break
		}
		w.hadTime(l)
		w.mustLast(l)
		if len(w.plan.Faults) == 0 && w.plan.Broken == (Broken{}) && !l.late && len(w.near(l)) >= w.plan.majority() {
			w.violated(lostForNothing, l.name, "client%d/%d lost name%d although nothing went wrong", l.h.slot, l.actor, l.name)
		}
		w.mustKeep(l)
	case l.h.closing:
		for _, o := range l.set() {
			o.close = true
		}
		w.note("given back by Close", l.h.slot, l.actor, l.name, 0, 0)
	default:
		w.violated(endedWrong, l.name, "the lease of client%d/%d on name%d ended with %v", l.h.slot, l.actor, l.name, cause)
	}
}

// ended ends a holder's belief in its lease. late means that the nodes may keep the name for the rest of its TTL. The
// caller holds w.mu.
func (w *world) ended(l *held, late bool) {
	l.over = true
	if l.look != nil {
		l.look.Stop()
	}
	until := w.now()
	if late {
		until += l.ttl + w.plan.Window
	}
	w.names[l.name].freeOf(l, until)
}

// gives ends the holder's belief in its lease because the holder releases the lease.
func (w *world) gives(l *held, left time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range l.set() {
		w.ended(l, false)
		if l.given = w.now(); l.h.asleep {
			l.given = l.h.sleeping // the time on the host's own clock, which UnlockAt uses
		}
		if left > 0 {
			w.names[l.name].freeOf(l, w.now()+left+w.plan.Window)
		} else if gap := w.plan.Clients[l.h.slot].Gap; gap > 0 {
			w.names[l.name].freeFrom(w.now() + gap + w.plan.Window)
		}
		w.note("gives back", l.h.slot, l.actor, l.name, 0, 0)
	}
}

// gave notes the result of a release.
func (w *world) gave(l *held, op Op, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range l.set() {
		one := err
		if l.also != nil {
			one = w.errorOf(o, err)
		}
		w.gaveOne(o, op, one)
	}
}

// gaveOne notes the result of the release of one lease. The caller holds w.mu.
func (w *world) gaveOne(l *held, op Op, err error) {
	o := Unlocked
	w.readerLeaves(l, op.Left, err)
	switch {
	case err == nil && op.Left > 0:
		o = LeftTaken
		n := w.names[l.name]
		if l.read { // see readerLeaves
			break
		}
		// The subtraction allows for the errors of both clients when they read the nodes' clocks.
		n.taken = max(n.taken, l.given+op.Left-4*w.plan.Window)
	case err == nil:
	case errors.Is(err, holdfast.ErrLost):
		o = Lost
		w.wasLost(l)
		w.names[l.name].freeOf(l, w.now()+l.ttl+w.plan.Window)
	default:
		o = UnlockUnheard
		w.names[l.name].freeOf(l, w.now()+l.ttl+w.plan.Window)
		w.mustHear(l, op, err)
	}
	w.note(outcomeNames[o], l.h.slot, l.actor, l.name, 0, 0)
	w.result.Tally.Outcomes[o]++
	left := w.now()
	if gap := w.plan.Clients[l.h.slot].Gap; op.Left > 0 || gap > 0 {
		left += max(op.Left, gap) + w.plan.Window
	}
	w.leaves(l.h, l.name, left)
}
