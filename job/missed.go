package job

import "time"

// decision is the next step of the holder of a job's lock.
type decision struct {
	run     bool
	tick    time.Time
	attempt int
	missed  int           // number of ticks before tick that no process runs
	manual  bool          // an operator asked for this run
	crashed bool          // the last run crashed, and nobody repeats it
	ahead   time.Duration // how far the last tick is in the future; 0: it is not too far
}

// farAhead is how far the last tick may be in the future without a report. Small values are normal, because somebody
// may set the nodes' clocks back a little.
const farAhead = time.Minute

// mostCounted is the largest count of missed ticks. After a long pause, a count of all of them would take too long.
const mostCounted = 1000

// decide returns the next step of the holder at the instant now: a tick that is due, else the run that an operator asked
// for, else the retry of the last tick. last is the stored outcome, or nil. since is the time at which this process
// began to wait for ticks. If there is no outcome, ticks before since do not count as missed.
func (t *task) decide(last *Outcome, since, now time.Time) decision {
	d := t.due(last, since, now)
	if last == nil || d.run || d.ahead > 0 || last.Book.Paused != nil {
		return d
	}
	if a := last.asked(now); a != nil {
		d.run, d.manual, d.attempt, d.tick = true, true, 1, a.At.UTC()
		if !d.tick.After(last.Tick) { // ticks run in their order
			d.tick = last.Tick.Add(time.Microsecond)
		}
		if !last.neverRan() {
			d.missed = t.between(t.floor(last, since, now), d.tick)
		}
		return d
	}
	// A later tick came due: it replaces the retry, also if it was missed.
	if d.tick.IsZero() && last.retries() && !last.Retry.After(now) && !last.left(since) {
		return last.again()
	}
	return d
}

// again returns the decision to repeat the last tick.
func (o *Outcome) again() decision {
	return decision{run: true, tick: o.Tick, attempt: o.Attempt + 1, missed: o.Missed, manual: o.Manual}
}

// retries reports whether the last run failed and waits for its retry.
func (o *Outcome) retries() bool {
	return o != nil && o.State == Failed && o.pending() && o.Book.Paused == nil
}

// floor returns the instant up to which no tick of any schedule runs: that of the last tick, or of the end of a pause. It
// ignores a pause that ended in the future, because the nodes' clocks were wrong then.
func (o *Outcome) floor(now time.Time) time.Time {
	if r := o.Book.Resumed; r.After(o.Tick) && r.Sub(now) <= farAhead {
		return r
	}
	return o.Tick
}

// between returns the number of ticks after from and before until.
func (t *task) between(from, until time.Time) (n int) {
	for tick := t.schedule.Next(from); !tick.IsZero() && tick.Before(until) && n < mostCounted; tick = t.schedule.Next(tick) {
		n++
	}
	return n
}

// due is decide for the ticks of the schedule, and for the repetition of a run that did not end normally.
func (t *task) due(last *Outcome, since, now time.Time) (d decision) {
	if last == nil || last.neverRan() {
		if due := t.schedule.Last(now); due.After(since) {
			return decision{run: true, tick: due, attempt: 1}
		}
		return decision{}
	}
	if ahead := last.Tick.Sub(now); ahead > farAhead {
		return decision{ahead: ahead}
	}
	paused := last.Book.Paused != nil
	switch {
	case last.final():
	case t.OnCrash == CrashSkip:
		d.crashed = last.State == Running
	case !paused:
		return last.again()
	}
	if paused {
		return d
	}
	first := t.schedule.Next(t.floor(last, since, now))
	if first.IsZero() || first.After(now) {
		return d
	}
	d.attempt = 1
	if t.Missed == MissedAll {
		d.run, d.tick = true, first
		return d
	}
	d.tick = t.schedule.Last(now)
	d.missed = t.between(t.floor(last, since, now), d.tick)
	d.run = t.Missed == MissedOnce || now.Sub(d.tick) <= t.grace(d.tick)
	return d
}
