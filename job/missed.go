package job

import "time"

// decision is the next step of the holder of a job's lock.
type decision struct {
	run     bool
	tick    time.Time
	attempt int
	missed  int           // number of ticks before tick that no process runs
	crashed bool          // the last run crashed, and nobody repeats it
	ahead   time.Duration // how far the last tick is in the future; 0: it is not too far
}

// farAhead is how far the last tick may be in the future without a report. Small values are normal, because somebody
// may set the nodes' clocks back a little.
const farAhead = time.Minute

// mostCounted is the largest count of missed ticks. After a long pause, a count of all of them would take too long.
const mostCounted = 1000

// decide returns the next step of the holder at the instant now. last is the stored outcome, or nil. since is the time
// at which this process began to wait for ticks. If there is no outcome, ticks before since do not count as missed.
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
	if !last.final() {
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
