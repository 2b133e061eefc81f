package job

import (
	"context"
	"time"
)

// dead reports whether the process of a run has probably died, because nobody has the lock. It returns false in doubt.
func (r *runner) dead(ctx context.Context, last *Outcome) bool {
	if last.State != Running {
		return false
	}
	s, err := r.client.Status(ctx, r.Name)
	return err == nil && !s.Held
}

// watch does for a machine that is not ready what the others do beside their runs: it finds a run that crashed, a tick
// that is overdue, a new schedule, and a job that is retired although this machine has it. With CrashRetry it leaves the
// run to a machine that can repeat it, and only reports the crash. It waits for nobody.
func (r *runner) watch(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	last, err := Last(bounded, r.client, r.Name)
	if err != nil {
		return
	}
	now, err := r.client.Now(bounded)
	if err != nil || !r.noteworthy(bounded, last, now) {
		return
	}
	l, err := r.client.Mutex(r.Name).TryLock(bounded)
	if err != nil {
		return // somebody else has it, and looks
	}
	h := &held{runner: r, lease: l}
	defer h.release()
	if last, err = h.load(bounded); err != nil {
		return
	}
	r.explain(last)
	if last != nil && last.State == Running && r.OnCrash == CrashSkip {
		last.crash(now)
		h.crashes(bounded, last)
	}
	h.notice(bounded, last, now)
}

// noteworthy reports whether a machine that is not ready must take the lock to report or store something. last may be
// nil.
func (r *runner) noteworthy(ctx context.Context, last *Outcome, now time.Time) bool {
	late := !r.overdue(last, r.since, now).IsZero()
	switch {
	case last == nil:
		return late
	case last.State == Running:
		return (late || r.uncertain(last)) && r.dead(ctx, last)
	}
	return late || r.givenUp(last) || r.untold(last) || last.Book.Retired != nil || r.changed(last, now)
}

// notice does what the holder of the lock does if no run begins now.
func (h *held) notice(ctx context.Context, last *Outcome, now time.Time) {
	if last != nil {
		h.unretire(ctx, last, now)
		h.adopt(ctx, last, now)
		h.settle(ctx, last, now)
	}
	h.reportCrash(ctx, last)
	h.reportUntold(ctx, last)
	h.reportOverdue(ctx, last, now)
}

// givenUp reports whether an interrupted run waits for a repetition that nobody makes: OnCrash is CrashSkip since then.
func (t *task) givenUp(last *Outcome) bool {
	return t.OnCrash == CrashSkip && last.State == Interrupted && last.pending()
}

// settle ends the wait of a run that was given up.
func (h *held) settle(ctx context.Context, last *Outcome, now time.Time) {
	if !h.givenUp(last) {
		return
	}
	last.Retry = time.Time{}
	last.Book.counts(last.run(), now)
	if err := h.store(ctx, last); err != nil {
		h.Logger.Warn("job: the end of its interrupted run was not stored", "job", h.Name, "tick", last.Tick, "error", err)
	}
}
