package job

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/internal/core/ending"
)

// ErrInterrupted means that a run did not complete its work because it was asked to end. A run whose error matches
// ErrInterrupted has the state [Interrupted]. With [CrashRetry] the tick then runs again, in any process. The end of
// the context of [Run] or [Spec.Once] has the same effect: any error of the function is then an interruption.
//
// A function that sees another signal to end returns it: fmt.Errorf("%w: %w", job.ErrInterrupted, err). With
// [Func.Until] a context is this signal. For a [Turn], pass the error to [Turn.End].
var ErrInterrupted = errors.New("the run was asked to end")

// Until returns a function that runs f and also ends f's context when ctx ends. If f then returns an error, the run
// was interrupted: the error matches [ErrInterrupted]. Use it with a scheduler that cannot end a run, or with a
// context that the scheduler gives.
func (f Func) Until(ctx context.Context) Func {
	switch {
	case ctx == nil:
		panic("job: Func.Until: nil Context")
	case f == nil:
		panic("job: Func.Until: nil function")
	}
	return func(run context.Context, tick Tick) error {
		work, end := ending.Work(ctx, run)
		defer end(nil)
		return interruptedBy(ctx, f(work, tick))
	}
}

// interruptedBy returns the error of a run that ctx should end. If ctx has ended, an error matches ErrInterrupted. It
// keeps its text.
func interruptedBy(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ErrInterrupted) {
		return err
	}
	return interruption{err}
}

type interruption struct{ error }

func (interruption) Is(target error) bool { return target == ErrInterrupted }

func (i interruption) Unwrap() error { return i.error }
