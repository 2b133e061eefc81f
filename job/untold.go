package job

import (
	"cmp"
	"context"
)

// untold reports whether an operator ended the last run's wait for its retry, or replaced a run that had crashed, and this
// process must report that.
func (t *task) untold(last *Outcome) bool { return t.OnAlert != nil && last != nil && last.Book.Untold }

// reportUntold calls OnAlert about a run that failed or crashed, and that an operator's action ended.
func (h *held) reportUntold(ctx context.Context, last *Outcome) {
	if !h.untold(last) {
		return
	}
	last.Book.Untold = false
	if err := h.store(ctx, last); err != nil {
		h.Logger.Warn("job: the report of a failure was not stored", "job", h.Name, "tick", last.Tick, "error", err)
		return // the next look finds it again
	}
	h.send(last.untoldAlert())
}

// untoldAlert returns the alert about a run that failed or crashed. If an operator replaced this run, it is the newest one
// of the history. untoldAlert returns nil if the history has no run.
func (o *Outcome) untoldAlert() *Alert {
	ended, kind := *o, AlertFailed
	if o.unrun() {
		if len(o.Book.Past) == 0 {
			return nil
		}
		ended = o.Book.Past[0].outcome()
		ended.Spec, ended.Schedule, ended.Book = o.Spec, o.Schedule, o.Book
	}
	if ended.State == Crashed {
		kind = AlertCrashed
	}
	return &Alert{Kind: kind, Tick: ended.Tick, Host: ended.Host, Last: ended}
}

// crashAlert returns the alert about the run of o, whose process died.
func (o *Outcome) crashAlert() *Alert {
	ended := *o
	ended.State, ended.Error = Crashed, cmp.Or(o.Error, unexplained)
	return &Alert{Kind: AlertCrashed, Tick: o.Tick, Host: o.Host, Last: ended}
}

// send calls OnAlert with an alert, if there is one.
func (t *task) send(a *Alert) {
	if t.OnAlert != nil && a != nil {
		t.OnAlert(*a)
	}
}

// told reports whether somebody called OnAlert for the crash of the last run.
func (o *Outcome) told() bool { return o.Book.Told.Equal(o.Started) }

// uncertain reports whether this process must report a run of last that has not ended, if it crashed. With CrashRetry
// nobody may be able to repeat it: the job is paused, or this machine is not ready.
func (t *task) uncertain(last *Outcome) bool {
	return last.State == Running && t.OnAlert != nil && (t.OnCrash == CrashSkip || !last.told())
}

// reportCrash stores and reports that the run of last crashed, although nobody repeats it now.
func (h *held) reportCrash(ctx context.Context, last *Outcome) {
	if last == nil || h.OnCrash == CrashSkip || !h.uncertain(last) {
		return
	}
	last.Book.Told = last.Started
	if err := h.store(ctx, last); err != nil {
		h.Logger.Warn("job: the report of a crash was not stored", "job", h.Name, "tick", last.Tick, "error", err)
		return // the next look finds it again
	}
	h.send(last.crashAlert())
}
