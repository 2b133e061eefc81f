package waiting

import (
	"hash/fnv"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// A gap is a time after an Unlock in which the plain key is free and no waiter of Holdfast gets the name. Clients of
// other libraries poll the plain key, and a gap lets them take it. Without gaps, waiters of Holdfast could hand a busy
// name from one to the next for ever. A polling client would then never find the name free.

// gapEvery is the time from the start of one gap to the start of the next, measured in gaps. So gaps take at most one
// eleventh of the time.
const gapEvery = 11

// gapDue reports whether this Unlock must begin a gap. Time is divided into periods of gapEvery gaps. A gap is due if
// a period began while this lease was held. Leases of one name do not overlap, so a period begins during one lease at
// most. So the processes need no messages to agree on who makes the gap. The check counts a lease from a little before
// its grant, because a period may begin during a hand-off. Each name has its own phase, so gaps of different names
// begin at different times.
func (l *Locker) gapDue(lock nodescript.Kind, token int64) bool {
	if l.Gap == 0 {
		return false
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(lock.Name()))
	gap := l.Gap.Microseconds()
	period := gapEvery * gap
	phase := int64(h.Sum64() % uint64(period))
	fan, _ := l.route(lock)
	return (token-gap/10+phase)/period != (fan.StampAt(fan.Now())+phase)/period
}

// askEvery returns the longest pause between two questions of a waiter to all nodes. If gaps are on, it is at most one
// gap, or RetryDelay if that is longer. A foreign client that took the name in a gap sends no hand-off when it
// releases. So a waiter finds the name free only by asking.
func (l *Locker) askEvery() time.Duration {
	if l.Gap == 0 {
		return askEvery
	}
	return min(askEvery, max(l.Gap, l.RetryDelay))
}

// contended reports whether another waiter of Holdfast waited for the name when this lease was granted, or whether the
// holder itself had waited.
func (g *Won) contended() bool { return g.Others || g.waited || g.passes > 0 }
