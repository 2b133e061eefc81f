package renewal

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// limit is the longest time for which a lease may be held.
type limit struct {
	d  time.Duration
	at clock.Instant // its end
}

// Limit limits the lease: d after the winning request was sent it is lost, however often it is renewed. Call it once,
// right after Keep.
func (e *Lease) Limit(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.limitLocked(&limit{d, e.grant.Sent.Add(d)})
}

// Prolong makes the limit of a lease end d from now, if that is later. 0 removes the limit. A lease without a limit
// gets none: somebody else relies on that.
func (e *Lease) Prolong(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.hasLimitLocked() {
		return
	}
	if d == 0 {
		e.limitLocked(nil)
	} else if at := e.keeper.fan.Now().Add(d); at > e.rare.limit.at {
		e.limitLocked(&limit{d, at})
	}
}

func (e *Lease) limitLocked(l *limit) {
	e.checkLocked()
	e.rareLocked().limit = l
	if e.end == nil && !e.until.Move(e.boundLocked()) {
		e.checkLocked()
	}
	if e.end == nil && l != nil {
		e.watchLocked() // the scheduler may look at the lease only after its limit
	}
	if e.end == nil && e.timer != nil {
		e.timer.Reset(e.nextCheckLocked())
	}
}

func (e *Lease) hasLimitLocked() bool { return e.rare != nil && e.rare.limit != nil }

// limitedLocked reports whether the limit ends the lease before its deadline does. The caller holds e.mu.
func (e *Lease) limitedLocked() bool { return e.hasLimitLocked() && e.rare.limit.at <= e.deadline }

// boundLocked returns the instant at which the holder stops relying on the lease: its deadline or its limit. The caller
// holds e.mu.
func (e *Lease) boundLocked() clock.Instant {
	if e.limitedLocked() {
		return e.rare.limit.at
	}
	return e.deadline
}
