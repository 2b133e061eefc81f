package sim

import "time"

// A client announces a loss at the lease's deadline, whether or not another client asks for the name.

// prompt returns the longest allowed delay between a deadline and the announcement of the loss, if the host did not
// sleep since the grant. The delay grows with the TTL because a clock may run 1 % faster than timers.
func prompt(ttl time.Duration) time.Duration { return ttl/100 + 5*time.Millisecond }

// willAnnounce checks a lease when its deadline must have passed. It repeats the check until the lease has ended. The
// caller holds w.mu.
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

// announced checks that a holder knows of the loss after the deadline of its lease. It returns the delay until the next
// check, 0 if no check is needed. The caller holds w.mu.
func (w *world) announced(l *held) (again time.Duration) {
	slack, past, awake := prompt(longest(w.plan)), -time.Until(l.lease.Deadline()), w.now()-l.h.woke
	if l.since <= l.h.woke { // no timer ran during the suspension; the client checks its clock once a second
		slack = noticed
	}
	switch {
	case l.over, l.h.dead, !w.relies(l):
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
