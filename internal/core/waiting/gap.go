package waiting

import (
	"hash/fnv"
	"time"
)

// A gap is a time after an Unlock in which the plain key is free and no waiter of Holdfast gets the name. It is for
// clients of other libraries, which poll. Without gaps, those clients never find the name free if waiters of Holdfast
// hand it on all the time.

// gapEvery is the time from the start of one gap to the start of the next, as a number of gaps. So gaps take at most
// one eleventh of the time.
const gapEvery = 11

// gapDue reports whether an Unlock now is the first Unlock of its name in a period of gapEvery gaps. It is the first if
// a period began during the lease. Leases of a name follow each other. So exactly one process sees each beginning, and
// the processes need not tell each other. The lease counts from a short time before its grant, because of the hand-off.
// Periods of different names begin at different times.
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

// askEvery returns the longest pause between two questions of a waiter to all nodes. With gaps it is at most one gap,
// or RetryDelay if that is longer. The reason is that a foreign client that takes the name in a gap does not hand it
// over.
func (l *Locker) askEvery() time.Duration {
	if l.Gap == 0 {
		return askEvery
	}
	return min(askEvery, max(l.Gap, l.RetryDelay))
}

// contended reports whether a waiter of Holdfast waited for the name when the lease was granted, or the holder itself
// had waited.
func (g *Won) contended() bool { return g.Others || g.waited || g.passes > 0 }
