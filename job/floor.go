package job

import (
	"context"
	"time"
)

// changedLate is how late another version of the schedule may take its tick. After that, a process with the present
// version stores its own next tick.
const changedLate = overdueAfter / 2

// floor returns the instant up to which no tick runs: that of the last tick, of the end of a pause, or of the time at
// which the job got this schedule. since is when this process began to wait for ticks. floor ignores stored instants in
// the future, because the nodes' clocks were wrong then.
func (t *task) floor(last *Outcome, since, now time.Time) time.Time {
	floor, from := last.floor(now), t.from(last, since)
	if from.After(floor) && (!from.After(since) || from.Sub(now) <= farAhead) {
		return from
	}
	return floor
}

// from returns the instant up to which the schedule had no ticks: the job had another schedule, was retired, or was
// removed. It returns the zero Time if the schedule of the last outcome is this one, or unknown.
//
// If another version took the last tick, from depends on this process, and not on stored instants. So while two versions
// run, none of them moves the floor of the other one, and each runs its own ticks from its start on.
func (t *task) from(last *Outcome, since time.Time) time.Time {
	from := last.Book.From
	switch {
	case since.IsZero() && t.differs(last): // Once: the caller supplies the tick
		return time.Time{}
	case since.IsZero():
		return from
	case t.differs(last):
		from = t.first(last.Schedule, since)
	}
	if last.left(since) && since.After(from) {
		from = since
	}
	return from
}

// left reports whether the job was retired or removed, and came back at since. A process that had it all the time goes on.
func (o *Outcome) left(since time.Time) bool {
	switch {
	case o.Book.Retired != nil:
		return since.After(o.Book.Retired.At)
	case o.State == Removed:
		return since.After(o.Started)
	}
	return false
}

// differs reports whether another schedule took the last tick. Other policies do not count, and neither do other time
// zone data: the ticks are the same ones.
func (t *task) differs(last *Outcome) bool {
	return last != nil && t.schedule != nil && last.Schedule != "" && last.Schedule != t.schedule.String()
}

// first returns the instant after which a schedule that replaced old at since has ticks. This is since. But if the last
// tick before since is one of both schedules, it counts: the change came just at that tick.
func (t *task) first(old string, since time.Time) time.Time {
	tick := t.schedule.Last(since)
	if s, err := ParseSchedule(old); err == nil && !tick.IsZero() && s.Last(tick).Equal(tick) {
		return tick.Add(-time.Microsecond)
	}
	return since
}

// awaited returns the first tick that somebody expects: the first one after the floor and after the last run. A tick that
// came while the job ran does not count: the run took too long.
func (t *task) awaited(last *Outcome, since, now time.Time) time.Time {
	from := t.floor(last, since, now)
	if end := last.Started.Add(last.Took); end.After(from) {
		from = end
	}
	return t.schedule.Next(from)
}

// changed reports whether this process must store its schedule, because another version stored its own. It does so once
// at its start. After that, it waits until the other version has not taken its tick: both versions may be in the fleet
// for a while, and store their next ticks with the ticks that they take.
func (r *runner) changed(last *Outcome, now time.Time) bool {
	if !r.differs(last) || last.State == Running || last.State == Removed {
		return false
	}
	return !r.adopted || last.Next.IsZero() || now.Sub(last.Next) > changedLate
}

// adopt stores the schedule of this process, if another version of the job stored its own. Ticks of this schedule until
// the change do not run, and the next tick is one of this schedule.
func (h *held) adopt(ctx context.Context, last *Outcome, now time.Time) {
	if !h.changed(last, now) {
		h.adopted = h.adopted || !h.differs(last)
		return
	}
	old := last.Schedule
	h.replace(last, h.from(last, h.since), now)
	if err := h.store(ctx, last); err != nil {
		h.Logger.Warn("job: its new schedule was not stored", "job", h.Name, "error", err)
		return // the next look finds it again
	}
	h.adopted = true
	h.Logger.Info("job has a new schedule: earlier ticks of it do not run", "job", h.Name, "schedule", h.schedule.String(), "old_schedule", old, "next", last.Next)
}

// replace gives an outcome the schedule of this process, which has ticks after from.
func (h *held) replace(last *Outcome, from, now time.Time) {
	last.Book.From, last.Spec, last.Schedule = from.UTC(), h.hash, h.schedule.String()
	last.Next = h.awaited(last, h.since, now)
}
