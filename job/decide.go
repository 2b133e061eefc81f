package job

import "time"

// decision is what a holder of the lock does next.
type decision struct {
	run     bool
	tick    time.Time
	attempt int
	missed  int           // ticks before tick that are left out
	crashed bool          // the last run crashed, and is over
	ahead   time.Duration // the last tick is so far in the future; 0: it is not
}

// farAhead is how far in the future the last tick may be without a report. The nodes' clocks may be corrected a little.
const farAhead = time.Minute

// mostCounted limits the count of missed ticks.
const mostCounted = 1000

// decide returns what the holder does at now. last is the stored outcome, nil if there is none. since is the instant
// from which this process waits for ticks: without an outcome, earlier ticks are not missed.
func (t *task) decide(last *Outcome, since, now time.Time) (d decision) {
	if last == nil {
		if due := t.schedule.Last(now); due.After(since) {
			return decision{run: true, tick: due, attempt: 1}
		}
		return decision{}
	}
	if ahead := last.Tick.Sub(now); ahead > farAhead {
		return decision{ahead: ahead}
	}
	if !last.over() {
		if t.OnCrash == CrashRetry {
			return decision{run: true, tick: last.Tick, attempt: last.Attempt + 1, missed: last.Missed}
		}
		d.crashed = last.State == Running
	}
	first := t.schedule.Next(last.Tick)
	if first.IsZero() || first.After(now) {
		return d
	}
	d.attempt = 1
	if t.Missed == MissedAll {
		d.run, d.tick = true, first
		return d
	}
	d.tick = t.schedule.Last(now)
	for tick := first; tick.Before(d.tick) && d.missed < mostCounted; tick = t.schedule.Next(tick) {
		d.missed++
	}
	d.run = t.Missed == MissedOnce || now.Sub(d.tick) <= t.grace(d.tick)
	return d
}
