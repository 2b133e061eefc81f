package job

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast"
)

// AlertKind says what an [Alert] is about.
type AlertKind string

// Kinds of alerts.
const (
	AlertFailed  AlertKind = "failed"  // a run returned an error, and nobody repeats it
	AlertCrashed AlertKind = "crashed" // the process of a run died or lost its lock; with CrashRetry the tick is repeated
	AlertOverdue AlertKind = "overdue" // no process began a tick within a minute and its Jitter, for example in an outage
)

// Alert is something that an operator should know about a job: see [Spec.OnAlert].
type Alert struct {
	Kind AlertKind
	Tick time.Time // the tick of the run, or the first tick that is overdue; the last one that is, after ErrFuture
	Host string    // the machine of the run, as [Outcome.Host], or the label of the process that found the overdue tick
	Last Outcome   // the run, or the last run before the tick that is overdue
}

// overdueAfter is how late a tick may begin, apart from its Jitter, before it is overdue.
const overdueAfter = time.Minute

// overdue returns the first tick since the last run that no process began in time. It returns the zero Time if there is
// none, or if the book has it already. A tick that came while the job ran is not overdue: the run took too long.
func (t *task) overdue(last *Outcome, now time.Time) time.Time {
	if t.OnAlert == nil || last == nil || last.Overdue(now) == 0 {
		return time.Time{}
	}
	from := last.floor(now)
	if end := last.Started.Add(last.Took); end.After(from) {
		from = end
	}
	if back := last.Book.Back; back.After(from) && back.Sub(now) <= farAhead {
		from = back
	}
	due := t.schedule.Next(from) // last.Next may be a tick of another version
	if due.IsZero() || now.Sub(due) <= overdueAfter+t.delay(due) || due.Equal(last.Book.Overdue) {
		return time.Time{}
	}
	return due
}

// alert calls OnAlert about a run.
func (t *task) alert(kind AlertKind, o *Outcome) {
	if t.OnAlert != nil {
		t.OnAlert(Alert{Kind: kind, Tick: o.Tick, Host: o.Host, Last: *o})
	}
}

// alertBefore calls OnAlert about the run of last if its end is found only now, because a run follows. stored is the error
// of the store of that run. crashed is true if the run of last crashed.
func (h *held) alertBefore(last *Outcome, crashed bool, next *Outcome, stored error) {
	switch {
	case last == nil, errors.Is(stored, holdfast.ErrLost): // the next holder finds it again
	case crashed, last.State == Running:
		ended := *last
		ended.State, ended.Error = Crashed, cmp.Or(last.Error, unexplained)
		h.alert(AlertCrashed, &ended)
	case last.Book.Untold:
		h.alert(AlertFailed, last)
	case last.State == Failed && last.pending() && !next.Tick.Equal(last.Tick): // a later tick replaced the retry
		h.alert(AlertFailed, last)
	}
}

// crashes stores that the run of last crashed, and calls OnAlert.
func (h *held) crashes(ctx context.Context, last *Outcome) {
	err := h.store(ctx, last)
	if err != nil {
		h.Logger.Warn("job: the crash was not stored", "job", h.Name, "error", err)
	}
	h.alertBefore(last, true, nil, err)
}

// reportOverdue stores and reports a tick that is overdue. Only one process of the fleet stores it, because it has the lock.
func (h *held) reportOverdue(ctx context.Context, last *Outcome, now time.Time) {
	due := h.overdue(last, now)
	if due.IsZero() {
		return
	}
	last.Book.Overdue = due
	if err := h.store(ctx, last); err != nil {
		h.Logger.Warn("job: an overdue tick was not stored", "job", h.Name, "tick", due, "error", err)
		return // the next look finds it again
	}
	h.Logger.Warn("job is overdue: no machine began its tick in time", "job", h.Name, "tick", due, "late", now.Sub(due))
	h.OnAlert(Alert{Kind: AlertOverdue, Tick: due, Host: h.host(), Last: *last})
}

// untold reports whether a pause dropped the retry of the last run, and this process must report the failure.
func (t *task) untold(last *Outcome) bool { return t.OnAlert != nil && last != nil && last.Book.Untold }

// reportUntold calls OnAlert about a run that failed, and whose retry a pause dropped.
func (h *held) reportUntold(ctx context.Context, last *Outcome) {
	if !h.untold(last) {
		return
	}
	last.Book.Untold = false
	if err := h.store(ctx, last); err != nil {
		h.Logger.Warn("job: the report of a failure was not stored", "job", h.Name, "tick", last.Tick, "error", err)
		return // the next look finds it again
	}
	h.alert(AlertFailed, last)
}

// dead reports whether the process of a run has probably died, because nobody has the lock. It returns false in doubt.
func (r *runner) dead(ctx context.Context, last *Outcome) bool {
	if last.State != Running || last.Book.Paused != nil {
		return false
	}
	s, err := r.client.Status(ctx, r.Name)
	return err == nil && !s.Held
}

// watch does for a machine that is not ready what the others do beside their runs: it finds a run that crashed, a tick
// that is overdue, and a job that is retired although this machine has it. With CrashRetry it leaves the run to a machine
// that can repeat it. It waits for nobody.
func (r *runner) watch(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	last, err := Last(bounded, r.client, r.Name)
	if err != nil || last == nil {
		return
	}
	now, err := r.client.Now(bounded)
	if err != nil {
		return
	}
	reports := !r.overdue(last, now).IsZero() || r.untold(last) || r.OnAlert != nil && r.OnCrash == CrashSkip && r.dead(bounded, last)
	if retired := last.Book.Retired != nil && last.State != Running; !reports && !retired {
		return
	}
	l, err := r.client.Mutex(r.Name).TryLock(bounded)
	if err != nil {
		return // somebody else has it, and looks
	}
	h := &held{runner: r, lease: l}
	defer h.release()
	if last, err = h.load(bounded); err != nil || last == nil {
		return
	}
	if last.State == Running && r.OnCrash == CrashSkip {
		r.explain(last)
		last.crash(now)
		h.crashes(bounded, last)
	}
	h.unretire(bounded, last, now)
	h.reportUntold(bounded, last)
	h.reportOverdue(bounded, last, now)
}
