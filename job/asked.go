package job

import (
	"context"
	"time"
)

// lookAsked is the time between two looks of a process that sleeps until the next tick. A look takes no lock. It shows
// a request of Trigger, and a retry after a run in another process.
const lookAsked = 10 * time.Second

// wanted reports whether this process must take the lock before the next tick: because an operator asked for a run, the
// last run must be repeated or has crashed, a tick is overdue, the job is retired although this process has it, or another
// version stored a next tick that nobody took. It
// returns false in doubt, for example during an outage. A look lasts for at most limit.
func (r *runner) wanted(ctx context.Context, now time.Time, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last, err := Last(ctx, r.client, r.Name)
	switch {
	case err != nil || last == nil:
		return false
	case last.State == Running && r.OnCrash == CrashRetry && last.Book.Paused != nil && !r.uncertain(last):
		return false // it is repeated after the pause
	case last.State == Running:
		return r.dead(ctx, last)
	case !r.overdue(last, r.since, now).IsZero(), r.untold(last), r.changed(last, now):
		return true
	}
	d := r.decide(last, r.since, now)
	switch {
	case !d.run:
		return last.Book.Retired != nil
	case d.manual, d.attempt > 1:
		return true
	}
	// A tick is due. It is taken at its time, which Jitter may delay, and a request is served after it.
	return last.asked(now) != nil && !d.tick.Add(r.delay(d.tick)).After(now)
}

// isReady reports whether this machine can take ticks. It logs each change.
func (r *runner) isReady() bool {
	if r.Ready == nil {
		return true
	}
	unfit := ""
	err := r.Ready()
	if err != nil {
		unfit = "not ready: " + err.Error()
	}
	switch {
	case unfit == r.unfit:
	case err != nil:
		r.Logger.Warn("job left to other machines: this one is not ready", "job", r.Name, "error", err)
	default:
		r.Logger.Info("job can run on this machine again", "job", r.Name)
	}
	r.unfit = unfit
	return err == nil
}

// reportPaused logs each pause once.
func (r *runner) reportPaused(last *Outcome) {
	if last == nil || last.Book.Paused == nil || last.Book.Paused.At.Equal(r.paused) {
		return
	}
	p := last.Book.Paused
	r.paused = p.At
	r.Logger.Warn("job is paused: no tick is taken until an operator resumes it", "job", r.Name, "by", p.By, "at", p.At, "note", p.Note)
}
