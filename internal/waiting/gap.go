package waiting

import (
	"hash/fnv"
	"time"
)

// A gap is a time after an Unlock in which the plain key is free and no waiter of ours gets the name: for clients
// of other libraries, which poll. Where waiters of ours hand a name on all the time there is none otherwise.

// gapEvery is how many gaps long the time from one gap to the next is, the gap included: so gaps
// take an eleventh of the time at most.
const gapEvery = 11

// gapDue reports whether an Unlock now is the first of its name in a period of gapEvery gaps: whether a period began
// under the lease. Leases of a name follow each other, so of all processes that hand it on one sees each beginning, and
// they need not tell each other. A little of the time before the lease counts as its own: that in which the
// hand-off came. Periods of different names begin at different times.
func (l *Locker) gapDue(name string, token int64) bool {
	if l.Gap == 0 {
		return false
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	gap := l.Gap.Microseconds()
	period := gapEvery * gap
	phase := int64(h.Sum64() % uint64(period))
	return (token-gap/10+phase)/period != (l.Fan.StampAt(l.Fan.Now())+phase)/period
}

// askEvery is the longest pause between two questions of a waiter to all nodes. Where gaps are left it is no longer
// than one: nobody hands the name over behind a foreign client that took it in a gap.
func (l *Locker) askEvery() time.Duration {
	if l.Gap == 0 {
		return askEvery
	}
	return min(askEvery, max(l.Gap, l.RetryDelay))
}

// contended reports whether somebody of ours waited for a lease's name when it was granted, or its holder did before.
func (g *Grant) contended() bool { return g.Others || g.waited || g.passes > 0 }
