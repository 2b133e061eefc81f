package job

import (
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

// reportAhead logs once that the last tick is in the future.
func (r *runner) reportAhead(last *Outcome, ahead time.Duration) {
	if !r.ahead {
		r.ahead = true
		r.Logger.Error("job not run", "job", r.Name, "tick", last.Tick, "ahead", ahead, "host", last.Host, "error", ErrFuture)
	}
}
