package renewal

import (
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/events"
)

// In a process whose goroutines compute all the time, a goroutine that can run waits for the others. The pulse measures
// this delay ten times a second. It beats only while the keeper has leases.

const (
	beatEvery = 100 * time.Millisecond
	leastLate = 10 * time.Millisecond  // a shorter delay counts as none
	tellLate  = 100 * time.Millisecond // a delay from which on the listeners are told
	tellEvery = time.Second
)

// pulse is what the keeper knows about the delay of its process. The goroutine that runs [Keeper.beat] writes it.
type pulse struct {
	worst atomic.Int64 // the delay of the last beats, ns

	most time.Duration // the longest delay since the listeners were told
	told clock.Instant // when they were told of a delay that has not ended; 0: there is none
}

// Delay returns the time for which a goroutine of this process waits for the processor at present, as far as it is
// known. It is 0 while the keeper has no leases.
func (k *Keeper) Delay() time.Duration {
	d := max(time.Duration(k.pulse.worst.Load()), k.fan.Delay())
	if d < leastLate {
		return 0
	}
	return d
}

// startPulse starts the pulse unless it beats. The caller holds k.mu.
func (k *Keeper) startPulse() {
	if !k.beats && !k.closed {
		k.beats = true
		k.wait.Go(k.beat)
	}
}

func (k *Keeper) beat() {
	timer := time.NewTimer(beatEvery)
	defer timer.Stop()
	for more := true; more; timer.Reset(beatEvery) {
		select {
		case <-k.stop:
		case <-timer.C:
			k.fan.Woken()
			k.fan.Suspect()
			// A timer's goroutine comes first in line, and most goroutines of a lock come last: package delay measures
			// that.
			k.late(k.fan.Delay())
		}
		k.mu.Lock()
		if more = k.scheduled() && !k.closed; !more {
			k.endPulse()
		}
		k.mu.Unlock()
	}
}

// endPulse forgets the delay. The caller holds k.mu, and must not beat again.
func (k *Keeper) endPulse() {
	k.beats = false
	p := &k.pulse
	p.worst.Store(0)
	if p.told != 0 {
		k.Events.Emit(events.Event{Kind: events.Delayed})
	}
	p.told, p.most = 0, 0
}

// late takes the delay of a beat. An old delay counts less with each beat, and about a tenth after two seconds.
func (k *Keeper) late(d time.Duration) {
	p := &k.pulse
	old := time.Duration(p.worst.Load())
	p.worst.Store(int64(max(d, old-old/8)))
	p.most = max(p.most, d)
	now := k.timers()
	switch {
	case p.told != 0 && now.Sub(p.told) < tellEvery:
	case p.most >= tellLate:
		k.Events.Emit(events.Event{Kind: events.Delayed, Took: p.most})
		p.told, p.most = now, 0
	case p.told != 0:
		k.Events.Emit(events.Event{Kind: events.Delayed})
		p.told, p.most = 0, 0
	default:
		p.most = 0
	}
}

// earlyLocked returns how long before its deadline a lease is lost that is not renewed. The goroutines that wait for
// the end of its context run only after the delay of the process, and so does the goroutine that ends the context. But
// a renewal may still win: so it is a quarter of the validity at most. The caller holds e.mu.
//
// A lease is not lost before its limit. The nodes still have it then, and get its release at once. So they would give
// it to another client earlier, too.
func (e *Lease) earlyLocked() time.Duration {
	if len(e.tries) == 0 {
		return 0
	}
	return min(2*e.keeper.Delay(), e.keeper.lastQuarter(e.ttl))
}

// lastQuarter returns a quarter of the validity of a lease.
func (k *Keeper) lastQuarter(ttl time.Duration) time.Duration { return k.pace(ttl) * 3 / 4 }

// nextCheckLocked returns the time until the lease's timer looks at the deadline or limit next. In the last quarter of
// the validity it looks more and more often, because the delay of the process may grow. The caller holds e.mu.
func (e *Lease) nextCheckLocked() time.Duration {
	now := e.keeper.fan.Now()
	left := e.boundLocked().Sub(now)
	if quarter := e.keeper.lastQuarter(e.ttl); left > quarter {
		return left - quarter
	}
	if left <= 2*leastLate {
		return left
	}
	return min(left/2, max(e.deadline.Sub(now)-e.earlyLocked(), leastLate))
}
