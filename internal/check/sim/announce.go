package sim

import "time"

// A loss is announced at the lease's deadline, whether or not another client asks for the name.

// prompt returns the longest delay between a deadline and its announcement, if the host did not sleep since the grant.
// A clock may run a hundredth faster than timers.
func prompt(ttl time.Duration) time.Duration { return ttl/100 + 5*time.Millisecond }

// willAnnounce checks a lease at the time when it must be over, and repeats until it is over. The caller holds w.mu.
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

// announced checks that a holder after its deadline knows of the loss. It returns the delay until the next check, 0 if
// none is needed. The caller holds w.mu.
func (w *world) announced(l *held) (again time.Duration) {
	slack, past, awake := prompt(longest(w.plan)), -time.Until(l.lease.Deadline()), w.now()-l.h.woke
	if l.since <= l.h.woke { // during the suspension no timer ran; the client checks once a second
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
