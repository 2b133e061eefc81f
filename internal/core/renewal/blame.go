package renewal

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// This file finds out whether a lease that was not renewed in time was lost by its process and not by the nodes.

// wakes is what the scheduler knows about its own sleep. Keeper.mu guards it.
type wakes struct {
	planned clock.Instant // when the scheduler should wake next
	stall   time.Duration // how late it last woke, if that was long
	ended   clock.Instant // when it woke then
}

// leastStall is the shortest time without a wake-up of the scheduler that counts as a stop of the process.
const leastStall = time.Second

// sleeps notes how long the scheduler will sleep. The caller holds k.mu.
func (k *Keeper) sleeps(now clock.Instant, d time.Duration) { k.wakes.planned = now.Add(d) }

// awake notes that the scheduler woke.
func (k *Keeper) awake() {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.fan.Now()
	if late := now.Sub(k.wakes.planned); k.wakes.planned != 0 && late >= leastStall {
		k.wakes.stall, k.wakes.ended = late, now
	}
}

// stalled returns how long this process did not run at all, if a lease that ends now may have been lost by that, else
// 0. In a process that is only busy the scheduler is late, too, but no later than other goroutines.
func (k *Keeper) stalled() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.fan.Now()
	s := time.Duration(0)
	if k.wakes.planned != 0 {
		s = now.Sub(k.wakes.planned)
	}
	if k.wakes.ended != 0 && now.Sub(k.wakes.ended) < k.fan.Set().MaxTTL {
		s = max(s, k.wakes.stall)
	}
	if s < leastStall || s < 2*k.fan.Delay() {
		return 0
	}
	return s
}

// lateLocked returns how late this process was with the renewals of the lease, 0 if it was in time. The caller holds
// e.mu.
func (e *Lease) lateLocked() time.Duration {
	late := e.keeper.fan.Delay()
	if late > 0 {
		for _, r := range e.tries {
			if r.sent != 0 {
				late = max(late, r.sent.Sub(r.begun))
			}
		}
	}
	if late < e.keeper.fan.Set().Window {
		return 0
	}
	return late
}

// answersLocked returns the last answer of each node to the renewals since the last one that won. A node that has not
// answered within the node timeout has timed out. The caller holds e.mu.
func (e *Lease) answersLocked() []nodescript.Answer {
	fan := e.grant.Fan
	answers := answersTo(e.tries, fan.N())
	for _, r := range e.tries {
		if r.sent == 0 || fan.Now().Sub(r.sent) < fan.Timeout() {
			continue
		}
		for i := range answers {
			if answers[i].Verdict == nodescript.Unanswered {
				answers[i] = nodescript.Answer{Verdict: nodescript.Failed, Err: context.DeadlineExceeded}
			}
		}
	}
	return answers
}
