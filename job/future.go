package job

import (
	"context"
	"errors"
	"time"
)

// ErrFuture means that the last tick of a job is in the future, because the clocks of a majority of the nodes were
// ahead. The job does not run before that tick. An operator can change this with [SetTick] or holdfast jobs --reset
// NAME. An error of [Once] also matches ErrFuture if the tick of the call is in the future. Then nothing is stored.
var ErrFuture = errors.New("the last tick is in the future, because the clocks of a majority of the nodes were ahead; " +
	"the job runs again after that tick, or after: holdfast jobs --reset NAME")

// futureError is the text of an error about the tick of a call. It matches [ErrFuture].
type futureError string

func (e futureError) Error() string { return string(e) }

func (futureError) Is(target error) bool { return target == ErrFuture }

// Ahead returns how far the last tick is in the future, 0 if it is at most a minute. The job does not run before that
// tick: see [ErrFuture].
func (o Outcome) Ahead(now time.Time) time.Duration {
	if ahead := o.Tick.Sub(now); ahead > farAhead {
		return ahead
	}
	return 0
}

// reportAhead reports that the last tick is in the future: each process logs it once, and one of the fleet stores it and
// calls OnAlert.
func (h *held) reportAhead(ctx context.Context, last *Outcome, now time.Time) {
	if !h.ahead {
		h.ahead = true
		h.Logger.Error("job not run", "job", h.Name, "tick", last.Tick, "ahead", last.Ahead(now), "host", last.Host, "error", ErrFuture)
	}
	if !last.Book.Stuck.IsZero() || last.State == Removed || last.Book.Paused != nil {
		return
	}
	last.Book.Stuck = now.UTC()
	if err := h.store(ctx, last); err != nil {
		h.Logger.Warn("job: its tick in the future was not noted", "job", h.Name, "tick", last.Tick, "error", err)
		return // the next look finds it again
	}
	if h.OnAlert != nil {
		due := h.schedule.Last(now)
		if due.IsZero() { // no tick has come in eight years
			due = last.Tick
		}
		h.OnAlert(Alert{Kind: AlertOverdue, Tick: due, Host: h.host(), Last: *last})
	}
}
