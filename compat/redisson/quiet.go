package redisson

import "time"

const (
	quickTries = 16                    // tries after the last sign of a release without a message
	quickPause = 32 * time.Millisecond // the longest pause between two of them; RSpinLock's grows from 1 to 128 ms
)

// quiet notices holders whose release wakes no waiter: RSpinLock and RFairLock send no message, or one that other
// waiters do not hear. If they take a lock again and again, a waiter that asks once per [Config.Poll] nearly never
// finds it free.
type quiet struct {
	holder string
	ends   time.Time // when the lock of this holder ends, zero: it could not be silent
	quick  int
}

// note gets each refusal of the first waiter, and whether a message woke it for this try. It reports whether the waiter
// should ask soon again: the holder or its time had changed, and no message had said so. A renewal looks the same, and
// costs a few tries.
func (q *quiet) note(refused *HeldError, woken bool) bool {
	ends := time.Time{}
	if refused.Mode == "" && refused.ExpiresIn >= 0 { // holders with a mode send messages
		ends = time.Now().Add(refused.ExpiresIn)
	}
	const slack = 50 * time.Millisecond // answers take different times
	switch {
	case !woken && !ends.IsZero() && !q.ends.IsZero() && (refused.Holder != q.holder || ends.Sub(q.ends) > slack):
		q.quick = quickTries
	case q.quick > 0:
		q.quick--
	}
	q.holder, q.ends = refused.Holder, ends
	return q.quick > 0
}
