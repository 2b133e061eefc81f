package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// name is the state of one lock.
type name struct {
	record     string  // the key of its record; "": a semaphore
	queue      string  // the key of its queue
	plain      string  // its plain key; "": none
	first, k   int     // for a semaphore: the index of its first slot, and the number of its slots
	line       int     // for a slot: the index of its semaphore; 0: this is no slot
	believed   []*held // granted leases; ended leases are removed later
	top        int64   // the highest token granted
	topBy      *held
	written    int64         // the highest token granted to a writer
	waits      []*wait       // calls of Lock that have not returned
	free       time.Duration // the name is free from this time on, or earlier
	barred     time.Duration // no writer may keep readers out from this time on, or earlier
	taken      time.Duration // UnlockAt keeps the name taken until this time
	foreigners int           // the number of foreign clients that rely on the name
	spent      time.Duration // the time that hand-offs to ended attempts may have cost since the last grant
	spentUntil time.Duration // the end of that cost: hand-offs by several nodes at a time cost the longest one only
	turns      []turn        // granted calls of Lock, in order
	stands     map[string]*standing
	value      register
	shuts      map[string]time.Duration // UnlockAt keeps writers out until these times, by the reader's owner
}

// turn is a call of Lock that got the lock.
type turn struct {
	x      *wait
	ticket int64
	at     time.Duration
}

// freeFrom notes that the name is free at the latest from the time at. The caller holds w.mu.
func (n *name) freeFrom(at time.Duration) { n.free, n.barred = max(n.free, at), max(n.barred, at) }

// freeOf does the same after a lease. The lease of a reader keeps no reader out. The caller holds w.mu.
func (n *name) freeOf(l *held, at time.Duration) {
	if l.read {
		n.free = max(n.free, at)
		return
	}
	n.freeFrom(at)
}

// believer returns the lease on which a holder of the name now relies, nil if there is no such lease.
func (n *name) believer() *held {
	for _, o := range n.believed {
		if !o.over && o.ctx.Err() == nil {
			return o
		}
	}
	return nil
}

// wait is a call that has not returned.
type wait struct {
	h      *host
	actor  int
	name   int
	op     Op
	since  time.Duration
	wanted time.Duration // since when the goroutine has wanted the name, even through refusals
	alone  bool          // no other goroutine of the client waited for this name when the call began
	look   *time.Timer   // checks that the waiter learns of an outage in time: see untold; nil: the call does not wait
	over   bool          // the call has returned
}

// asks begins a call.
func (w *world) asks(h *host, a *Actor, op Op, wanted time.Duration) *wait {
	w.mu.Lock()
	defer w.mu.Unlock()
	h.calls++
	x := &wait{h: h, actor: a.ID, name: w.index(op), op: op, since: w.now(), wanted: wanted, alone: true}
	for _, name := range x.all() {
		w.uses(h, name)
		w.meets(x, w.names[name])
	}
	what := "tries"
	if op.Wait {
		what = "waits for"
		for _, o := range w.names[x.name].waits {
			x.alone = x.alone && o.h != h
		}
		w.names[x.name].waits = append(w.names[x.name].waits, x)
		if op.Terms == 0 { // a candidate waits through outages
			w.willTell(x, time.Second)
		}
	}
	w.note(what, h.slot, a.ID, x.name, 0, 0)
	return x
}

// returned ends a call. The caller holds w.mu.
func (w *world) returned(x *wait) {
	n := w.names[x.name]
	x.over = true // the check may have begun at this very moment
	if x.look != nil {
		x.look.Stop()
	}
	n.waits = slices.DeleteFunc(n.waits, func(o *wait) bool { return o == x })
	if !x.op.Shared {
		n.barred = max(n.barred, w.now())
	}
}

// vanished ends a call because its process died.
func (w *world) vanished(x *wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.returned(x)
	for _, name := range x.all() {
		w.freeAll(name, w.now()+longest(w.plan)+w.plan.Window)
	}
}

// refused ends a call that did not get the lock.
func (w *world) refused(x *wait, err error) {
	o := outcome(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.returned(x)
	if x.op.Wait && o == Unavailable {
		w.toldAt(x)
	}
	for _, name := range x.all() {
		w.leaves(x.h, name, w.now())
	}
	w.note(describe(o), x.h.slot, x.actor, x.name, 0, 0)
	if x.op.Sure {
		w.violated(neverGot, x.name, "client%d/%d did not get name%d, although nobody who is alive is in the way: %v", x.h.slot, x.actor, x.name, err)
	}
	if x.op.Slot {
		w.result.Tally.Rare[SlotRefused]++
	}
	if o == outcomes {
		w.violated(errorOfNoKind, x.name, "client%d/%d got an error of no kind: %v", x.h.slot, x.actor, err)
		return
	}
	w.result.Tally.Outcomes[o]++
}

func describe(o Outcome) string {
	if o == outcomes {
		return "error of no kind"
	}
	return outcomeNames[o]
}

// mayBeLate reports whether Lock may return long after the grant. The OnWait of the caller may sleep. A reader may also
// join the lease of another reader of its client, whose OnWait slept until less than half of the lease was left.
func (w *world) mayBeLate(x *wait, lease lease, ttl time.Duration) bool {
	if !x.op.Shared || x.op.OnWait == SlowOnWait {
		return x.op.OnWait == SlowOnWait
	}
	return time.Until(lease.Deadline()) < quorum.Validity(ttl, w.plan.Window)/2 && slices.ContainsFunc(w.plan.Actors, func(a Actor) bool {
		return a.Client == x.h.slot && slices.ContainsFunc(a.Ops, func(o Op) bool { return o.Shared && o.OnWait == SlowOnWait })
	})
}

// granted begins a holder's belief in its lease.
func (w *world) granted(x *wait, lease lease, ttl time.Duration) *held {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := x.name
	if x.op.Slot {
		name = w.slotOf(x, lease)
	}
	l, joined := w.believe(x, name, lease, ttl)
	if !l.read {
		w.result.Tally.Outcomes[Granted]++
	}
	n, now := w.names[x.name], l.since
	if n.k > 1 && w.full(n) {
		w.result.Tally.Rare[SlotsFull]++
	}
	if !joined {
		if w.beside(n, l) {
			w.letIn(n, x, now)
		} else {
			w.served(n, x, now)
		}
		w.inTurn(n, x, lease.Owner(), now)
		w.overtaken(n, x, lease.Owner(), n.slot(name))
	}
	w.returned(x)
	return l
}

// believe begins a holder's belief in a lease of a name. It checks the belief against all other beliefs in leases of
// the name. It reports whether a reader joined a lease of its client. The caller holds w.mu.
func (w *world) believe(x *wait, name int, lease lease, ttl time.Duration) (l *held, joined bool) {
	now := w.now()
	l = &held{h: x.h, actor: x.actor, name: name, lease: lease, ctx: lease.Context(), ttl: ttl, first: ttl, since: now, late: w.mayBeLate(x, lease, ttl)}
	n := w.names[name]
	joined = w.reads(l, x)
	w.note("has token", x.h.slot, x.actor, name, lease.Fence(), int64(now+time.Until(lease.Deadline())))

	n.believed = slices.DeleteFunc(n.believed, func(o *held) bool { return o.over || !o.polls() })
	dreams := joined && x.h.asleep // no timer runs on a real host that sleeps, so nobody joins there
	// Its Lock returned, or it joined a lease of its client, after a forced release: the client does not know of that
	// yet.
	late := w.isForced(l)
	for _, o := range n.believed {
		if late {
			continue
		}
		if dreams {
			l.cap = max(l.cap, 1)
			if o.lease.Owner() == lease.Owner() {
				l.cap = max(l.cap, o.cap)
			}
			continue
		}
		left := time.Until(o.lease.Deadline())
		switch {
		case l.read && o.read:
		case w.isForced(o):
			w.mustNotice(o, now)
			n.freeFrom(w.forcingOf(o).last)
		case o.h.asleep: // the holder's clock stopped and does not show the end of the lease
			if now < o.cap {
				w.violated(twoHolders, name, "two holders of name%d: client%d/%d, asleep, could believe until %.6f, and client%d/%d was granted it",
					name, o.h.slot, o.actor, o.cap.Seconds(), x.h.slot, x.actor)
			}
		case left > 0:
			w.violated(twoHolders, name, "two holders of name%d: client%d/%d believes for another %s, and client%d/%d was granted it",
				name, o.h.slot, o.actor, left, x.h.slot, x.actor)
		// The host slept through the end of this lease, and cannot know of it yet.
		case o.cap > 0 && now-o.h.woke < noticed:
		default:
			w.violated(lossToldLate, name, "name%d was granted to client%d/%d before client%d/%d was told of its loss",
				name, x.h.slot, x.actor, o.h.slot, o.actor)
		}
	}
	if n.foreigners > 0 && w.classic() {
		w.violated(holderWithForeign, name, "two holders of name%d: a foreign client, and client%d/%d, who was granted it", name, x.h.slot, x.actor)
	}
	if now < n.taken {
		w.violated(beforeUnlockAt, name, "client%d/%d was granted name%d %s before what UnlockAt had kept it for", x.h.slot, x.actor, name, n.taken-now)
	}
	if until := n.shut(); now < until && !l.read {
		w.violated(beforeUnlockAt, name, "client%d/%d was granted name%d as a writer %s before what UnlockAt of a reader had kept it for", x.h.slot, x.actor, name, until-now)
	}
	if late {
		w.mustNotice(l, now)
	}
	if !dreams && (!late || l.lease.Fence() > n.top) {
		w.newToken(n, l)
	}
	if b := x.h.owners[lease.Owner()]; b != nil && !joined {
		b.won, b.first = now, ttl
	}
	n.believed = append(n.believed, l)
	w.willAnnounce(l, prompt(ttl)+time.Until(lease.Deadline()))
	x.h.leases = slices.DeleteFunc(x.h.leases, func(o *held) bool { return o.over || o.ctx.Err() != nil })
	x.h.leases = append(x.h.leases, l)
	return l, joined
}

// newToken checks that a token is above all earlier tokens of writers. A writer's token must also be above all earlier
// tokens of readers. The caller holds w.mu.
func (w *world) newToken(n *name, l *held) {
	t, least := l.lease.Fence(), n.top
	if l.read {
		least = n.written
	}
	if t <= least {
		w.violated(tokenNotAbove, l.name, "token %d of name%d for client%d/%d is not above %d; the highest is of client%d/%d",
			t, l.name, l.h.slot, l.actor, least, n.topBy.h.slot, n.topBy.actor)
	}
	if t > n.top {
		n.top, n.topBy = t, l
	}
	if !l.read {
		n.written = max(n.written, t)
	}
}

// violated notes a broken promise. The caller holds w.mu.
func (w *world) violated(b breach, name int, format string, args ...any) {
	if w.plan.Spare != 0 && !b.holdsForSpares() {
		return
	}
	text := fmt.Sprintf(format, args...)
	w.note("VIOLATION: "+text, -1, -1, name, 0, 0)
	w.result.broken[b] = true
	w.result.Violations = append(w.result.Violations, fmt.Sprintf("%.9f: %s", w.now().Seconds(), text))
}
