package job

import (
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
	AlertOverdue AlertKind = "overdue" // no process began a tick within a minute and its Jitter, or a repetition within a minute
)

// Alert is something that an operator should know about a job: see [Spec.OnAlert].
type Alert struct {
	Kind AlertKind
	Tick time.Time // the tick of the run, or the first one that is overdue or overdue to be repeated; the last one after ErrFuture
	Host string    // the machine of the run, as [Outcome.Host], or the label of the process that found the overdue tick
	Last Outcome   // the run, or the last run before the tick that is overdue; its State is Removed if there was none
}

// overdueAfter is how late a tick may begin, apart from its Jitter, before it is overdue.
const overdueAfter = time.Minute

// overdue returns when the first tick since the last run was due, or the repetition of that run before it, if no process
// began it in time. It returns the zero Time if there is none, or if an alert was stored since the last run. since is
// when this process began to wait for ticks. A run of last that has not ended has died.
func (t *task) overdue(last *Outcome, since, now time.Time) time.Time {
	switch {
	case t.OnAlert == nil:
		return time.Time{}
	case last == nil || last.neverRan():
		if last != nil && !last.Book.Overdue.IsZero() {
			return time.Time{}
		}
		return t.late(t.schedule.Next(since), now)
	case last.Book.Paused != nil, last.Book.Retired != nil, last.Ahead(now) > 0:
		return time.Time{}
	}
	told := last.Book.Overdue
	if told.Sub(now) <= farAhead && !told.Before(last.Started) && (last.State == Removed || !told.Before(t.floor(last, since, now))) {
		return time.Time{}
	}
	due := t.awaited(last, since, now) // last.Next may be a tick of another version
	if again := last.repetition(); last.repeats() && (due.IsZero() || again.Before(due)) {
		if now.Sub(again) <= overdueAfter {
			return time.Time{}
		}
		return again
	}
	return t.late(due, now)
}

// late returns due if this tick should have begun, else the zero Time.
func (t *task) late(due, now time.Time) time.Time {
	if due.IsZero() || now.Sub(due) <= overdueAfter+t.delay(due) {
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
		if !last.told() {
			h.send(last.crashAlert())
		}
	case last.Book.Untold:
		h.send(last.untoldAlert())
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
	due := h.overdue(last, h.since, now)
	if due.IsZero() {
		return
	}
	if last == nil { // a new job, which no machine can run
		last = &Outcome{State: Removed, Host: h.host(), Fence: h.lease.Fence(), Started: now.UTC()}
	}
	tick := due
	if last.repeats() && due.Equal(last.repetition()) {
		tick = last.Tick
	}
	last.Book.Overdue = due
	if err := h.store(ctx, last); err != nil {
		h.Logger.Warn("job: an overdue tick was not stored", "job", h.Name, "tick", tick, "error", err)
		return // the next look finds it again
	}
	h.Logger.Warn("job is overdue: no machine began its tick in time", "job", h.Name, "tick", tick, "late", now.Sub(due))
	h.OnAlert(Alert{Kind: AlertOverdue, Tick: tick, Host: h.host(), Last: *last})
}
