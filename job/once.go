package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Once runs fn for a tick, if neither this tick nor a later one was taken. Use it in a program that a scheduler
// starts on every machine of a fleet: all of them call Once with the same tick, and one of them runs fn. ran tells
// whether this call ran fn. The error is the error of fn, or the reason why fn could not run. If the tick or a later
// one was taken, Once returns false and nil. Only [Spec.Begin] returns [ErrTaken].
//
// Once does the same as the method [Spec.Once] of a Spec that has only a name.
func Once(ctx context.Context, client *holdfast.Client, name string, tick time.Time, fn Func) (ran bool, err error) {
	return Spec{Name: name}.Once(ctx, client, tick, fn)
}

// Once does the same as the function [Once], with the fields OnCrash, Timeout, TTL, History, Logger and OnOutcome of s.
// If s has a Schedule, the stored outcome contains the schedule and the next tick. Once ignores the other fields. So it
// repeats no run that failed, and it leaves a request of [Trigger] to [Run]. If the job is paused, each tick counts as
// taken.
//
// If another process is running the tick, Once with CrashSkip returns at once. With CrashRetry it waits until that
// run has ended, so that it can repeat the tick if that process dies. A call for a later tick does not repeat it.
//
// tick must not be more than a minute in the future. Otherwise the ticks until then would count as taken, and no
// machine would run them. The error then matches [ErrFuture]. [TickAt] returns the last tick by the nodes' clocks.
//
// The error matches [ErrBadSpec], [ErrNoJob] or [ErrFuture], or is an error of [holdfast.Mutex.Lock],
// [holdfast.Lease.Load] or [holdfast.Lease.Store]. So it matches [holdfast.ErrLost] if the lock was lost. It matches
// [holdfast.ErrReentrant] if ctx belongs to a run of this job.
func (s Spec) Once(ctx context.Context, client *holdfast.Client, tick time.Time, fn Func) (ran bool, err error) {
	return s.once(ctx, client, tick, nil, fn)
}

// once does the work of Once, or of Begin. Begin gives locked, which is called when once has the lock, and before it
// stores anything. For Begin once runs an earlier tick instead of tick, if that tick must be repeated.
func (s Spec) once(ctx context.Context, client *holdfast.Client, tick time.Time, locked func(), fn Func) (ran bool, err error) {
	if fn == nil {
		return false, noFunction(s.Name)
	}
	if ctx == nil {
		return false, noContext("Once", s.Name)
	}
	t, err := s.prepare(false)
	if err != nil {
		return false, err
	}
	t.Retries = 0 // the caller decides about another call
	if err := checkNested(ctx, client, s.Name); err != nil {
		return false, err
	}
	tick = tick.UTC()
	if err := storable(tick); err != nil {
		return false, fmt.Errorf("job %q: %w", s.Name, err)
	}
	r := t.runner(client, fn)
	now, err := client.Now(ctx)
	if err != nil {
		return false, fmt.Errorf("job %q: %w", s.Name, err)
	}
	if ahead := tick.Sub(now); ahead > farAhead {
		return false, futureError(fmt.Sprintf("job %q: the tick %s is %s in the future by the nodes' clocks; name a tick that has come", s.Name, tick.UTC().Format(time.RFC3339), ahead.Round(time.Second)))
	}
	if taken, err := r.seen(ctx, tick, now); err != nil || taken {
		return false, err
	}
	var options []holdfast.Option
	if s.TTL > 0 {
		options = append(options, holdfast.WithTTL(s.TTL))
	}
	l, err := client.Mutex(s.Name, options...).Lock(ctx)
	if err != nil {
		return false, fmt.Errorf("job %q: %w", s.Name, err)
	}
	if locked != nil {
		locked()
	}
	h := &held{runner: r, lease: l}
	defer h.release()
	last, err := h.load(ctx)
	if err != nil {
		return false, fmt.Errorf("job %q: not run, because its last outcome is unknown: %w", s.Name, err)
	}
	if now, err = client.Now(ctx); err != nil { // the wait may have been long
		return false, fmt.Errorf("job %q: %w", s.Name, err)
	}
	if last != nil && last.Tick.Sub(now) > farAhead {
		return false, fmt.Errorf("job %q: %s: %w", s.Name, last.Tick.UTC().Format(time.RFC3339), ErrFuture)
	}
	if last != nil && last.Book.Paused != nil {
		return false, nil
	}
	d := decision{run: true, tick: tick, attempt: 1}
	repeat := last != nil && !last.final() && r.OnCrash == CrashRetry
	switch {
	case last == nil:
	case repeat && (last.Tick.Equal(tick) || locked != nil && last.Tick.Before(tick)):
		d = last.again()
	case !last.Tick.Before(tick):
		return false, nil
	}
	var next time.Time
	if t.schedule != nil {
		next = t.schedule.Next(d.tick)
	}
	o := h.begin(last, d, now, next)
	var failed error
	r.fn = func(ctx context.Context, tick Tick) error {
		failed = fn(ctx, tick)
		return failed
	}
	err = h.claim(ctx, o)
	h.alertBefore(last, false, o, err)
	if err != nil {
		return false, fmt.Errorf("job %q: not run, because the tick could not be taken: %w", s.Name, err)
	}
	h.work(ctx, o)
	if lost := h.lost(); lost != nil && failed == nil {
		failed = fmt.Errorf("job %q: %w", s.Name, lost)
	}
	return true, failed
}

// seen reports whether a look without the lock shows that the tick was taken. It returns false in doubt: the caller
// then takes the lock and finds out.
func (r *runner) seen(ctx context.Context, tick, now time.Time) (bool, error) {
	last, err := Last(ctx, r.client, r.Name)
	switch {
	case errors.Is(err, ErrNoJob), errors.Is(err, holdfast.ErrBadName), errors.Is(err, holdfast.ErrClosed):
		return false, err
	case err != nil || last == nil:
		return false, nil // not certain; the caller asks again under the lock
	}
	taken := !last.Tick.Before(tick) && (last.final() || r.OnCrash == CrashSkip) || last.Book.Paused != nil
	taken = taken && last.Tick.Sub(now) <= farAhead
	if taken && now.Sub(last.Started) > keepAfter {
		r.keep(ctx)
	}
	return taken, nil
}

// keepAfter is an age of an outcome. If the outcome is older, Once also takes the lock and loads it. A look without
// the lock does not make the nodes keep the value for longer. Without the load, the nodes would forget the outcome of
// a tick that lasts longer than 30 days.
const keepAfter = 10 * 24 * time.Hour

// keep makes the nodes keep the outcome for another 30 days. If somebody has the lock, keep does nothing, because the
// holder loads the outcome itself.
func (r *runner) keep(ctx context.Context) {
	l, err := r.client.Mutex(r.Name).TryLock(ctx)
	if err == nil {
		h := &held{runner: r, lease: l}
		defer h.release()
		_, err = h.load(ctx)
	}
	if err != nil && !errors.Is(err, holdfast.ErrHeld) {
		r.Logger.Warn("job: the life of its last outcome was not prolonged", "job", r.Name, "error", err)
	}
}

// nearTick is the longest time by which a call may come too early for its tick, because the machine's clock is ahead
// of the nodes' clocks.
const nearTick = 5 * time.Second

// TickAt returns the last tick of a schedule by the nodes' clocks. All machines of a fleet get the same tick, even if
// their own clocks are wrong.
//
// If the clock of a scheduler is a little ahead, it calls TickAt just before its tick. TickAt would return the tick
// before. So TickAt waits for the next tick if this tick comes within 5 s, and within a tenth of the time between the
// two ticks. It returns an error if no tick has come in the last eight years.
func TickAt(ctx context.Context, client *holdfast.Client, schedule *Schedule) (time.Time, error) {
	now, err := client.Now(ctx)
	if err != nil {
		return time.Time{}, err
	}
	last, next := schedule.Last(now), schedule.Next(now)
	if wait := next.Sub(now); !next.IsZero() && wait <= min(nearTick, next.Sub(last)/10) {
		return next, clock.Rest(ctx, wait)
	}
	return come(last, schedule, now)
}

// Ticks is a rule for ticks: a [*Schedule], or the schedule of another library. Next returns the first tick after t,
// or the zero Time if there is none.
type Ticks interface{ Next(t time.Time) time.Time }

// mostLead is how early another scheduler may start a run for its tick.
const mostLead = farAhead / 2

// TickNear returns the tick to which a run belongs that another scheduler starts now. This is usually the last tick
// by the nodes' clocks. If the scheduler's clock is ahead, it is the next tick. TickNear assumes this if the next
// tick is nearer than the last one and comes in less than 30 s. It returns an error if no tick has come in the last
// eight years.
func TickNear(ctx context.Context, client *holdfast.Client, ticks Ticks) (time.Time, error) {
	now, err := client.Now(ctx)
	if err != nil {
		return time.Time{}, err
	}
	return come(near(ticks, now), ticks, now)
}

// come returns tick, or an error if there is none.
func come(tick time.Time, ticks Ticks, now time.Time) (time.Time, error) {
	if tick.IsZero() {
		return tick, fmt.Errorf("no tick of the schedule %v has come in the eight years before %s", ticks, now.UTC().Format(time.RFC3339))
	}
	return tick, nil
}

// near returns the tick to which a run at now belongs. It returns the zero Time if there is none.
func near(ticks Ticks, now time.Time) time.Time {
	last, next := lastTick(ticks, now), ticks.Next(now)
	if ahead := next.Sub(now); !next.IsZero() && ahead < mostLead && (last.IsZero() || ahead < now.Sub(last)) {
		return next
	}
	return last
}

// lastTick returns the last tick at or before t. It returns the zero Time if there was none in the eight years before
// t.
func lastTick(ticks Ticks, t time.Time) time.Time {
	for back := time.Minute; back < 4*8*longest; back *= 4 {
		back = min(back, 8*longest) // the longest look back: from one 29 February to the next it can be eight years
		last := ticks.Next(t.Add(-back - time.Nanosecond))
		if last.IsZero() || last.After(t) {
			continue
		}
		for next := ticks.Next(last); !next.IsZero() && !next.After(t); next = ticks.Next(next) {
			last = next
		}
		return last
	}
	return time.Time{}
}
