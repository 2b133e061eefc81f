package sim

import "time"

// A loss is announced at the lease's deadline, whether anybody else asks for the name or not.

// prompt is how long after its deadline a lease is over for its holder, where its host did not sleep since the
// lease was granted: its clock may run a hundredth faster than timers do.
func prompt(ttl time.Duration) time.Duration { return ttl/100 + 5*time.Millisecond }

// willAnnounce looks at a lease when it has to be over, until it is. w.mu is held.
func (w *world) willAnnounce(l *held, after time.Duration) {
	w.unique++
	l.look = time.AfterFunc(after+time.Duration(1+w.unique%50_000), func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if again := w.announced(l); again > 0 {
			w.willAnnounce(l, again)
		}
	})
}

// announced checks that a holder whose deadline is past knows it; it returns after which time to look again, 0 if
// there is nothing to look at any more. w.mu is held.
func (w *world) announced(l *held) (again time.Duration) {
	slack, past, awake := prompt(longest(w.plan)), -time.Until(l.lease.Deadline()), w.now()-l.h.woke
	if l.since <= l.h.woke { // the timers that it had then stood still: it looks once a second
		slack = noticed
	}
	switch {
	case l.over, l.h.dead, l.ctx.Err() != nil:
		return 0
	case l.h.asleep:
		return noticed
	case past < slack:
		return slack - past
	case awake < slack:
		return slack - awake
	}
	w.violated(anyOther, l.name, "client%d/%d was not told of the loss of name%d: its deadline is %s ago", l.h.slot, l.actor, l.name, past)
	return 0
}
