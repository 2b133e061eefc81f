package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast"
)

// Turn is a run that [Spec.Begin] has begun in this process. It lasts until [Turn.End]. It is safe for concurrent
// use.
type Turn struct {
	ctx   context.Context
	tick  Tick
	once  sync.Once
	ended chan error    // the result of the run
	done  chan struct{} // closed when the outcome is stored and the lock released
	ran   bool
	err   error
}

// ErrTaken means that a run did not begin, because its tick or a later one was already taken, or because the job is
// paused: see [Pause]. Evidence: [*TakenError].
var ErrTaken = errors.New("the tick was taken")

// TakenError says who took a tick, or who paused the job. It matches [ErrTaken].
type TakenError struct {
	Name string
	Tick time.Time // the tick that the caller wanted
	Last *Outcome  // the last tick that was taken; nil if no node could tell
}

func (e *TakenError) Error() string {
	s := fmt.Sprintf("job %q: the tick %s was taken", e.Name, e.Tick.UTC().Format(time.RFC3339))
	switch {
	case e.Last == nil:
	case e.Last.Tick.Before(e.Tick) && e.Last.Book.Paused != nil:
		return fmt.Sprintf("job %q: the tick %s was not taken: the job is paused: %s", e.Name, e.Tick.UTC().Format(time.RFC3339), e.Last.Book.Paused.byWhom())
	case e.Last.Tick.Equal(e.Tick):
		s += fmt.Sprintf(" by %s (%s)", e.Last.Host, e.Last.State)
	default:
		s += fmt.Sprintf(": %s took the later tick %s", e.Last.Host, e.Last.Tick.UTC().Format(time.RFC3339))
	}
	return s
}

// Unwrap makes the error match ErrTaken.
func (e *TakenError) Unwrap() error { return ErrTaken }

// lookGap is the time between two looks of a waiting Begin. Begin must look, because the lock does not tell for which
// tick its holder runs the job.
const lookGap = 250 * time.Millisecond

// Begin does the first half of [Spec.Once], and [Turn.End] does the second half. Use them for a scheduler that calls
// one function before a run and another one after it. The caller may work until the context of the turn ends, and
// then calls End.
//
// With CrashRetry the turn may be that of an earlier tick, if its run did not end normally and no process has repeated
// it: see [Turn.Tick]. Call Begin again after its End.
//
// ctx limits the wait for the lock, and not the run. If another process runs an earlier tick, Begin waits. If another
// process took this tick, the error is a [*TakenError]. With CrashRetry this error comes only after that run has
// ended. The other errors are those of [Spec.Once]. If ctx ends while another process has the lock, the error is a
// [*holdfast.HeldError].
func (s Spec) Begin(ctx context.Context, client *holdfast.Client, tick time.Time) (*Turn, error) {
	if ctx == nil {
		return nil, noContext("Begin", s.Name)
	}
	tick = tick.UTC()
	t := &Turn{ended: make(chan error, 1), done: make(chan struct{})}
	began := make(chan struct{})
	var locked atomic.Bool
	waiting, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	go func() { // runs until End, or until once refuses the tick
		defer close(t.done)
		defer cancel(nil)
		defer stop()
		t.ran, t.err = s.once(waiting, client, tick, func() { locked.Store(true) }, func(ctx context.Context, tick Tick) error {
			stop()
			t.ctx, t.tick = ctx, tick
			close(began)
			return <-t.ended
		})
	}()
	look := time.NewTicker(lookGap)
	defer look.Stop()
	taken := &TakenError{Name: s.Name, Tick: tick}
	for {
		select {
		case <-began:
			return t, nil
		case <-t.done:
			switch {
			case t.err != nil && taken.Last == nil:
				return nil, t.err
			case taken.Last == nil:
				taken.Last, _ = Last(ctx, client, s.Name) // an error here is ignored: taken is a complete error without Last
			}
			return nil, taken
		case <-look.C:
			last, err := Last(waiting, client, s.Name)
			// After locked is set, the stored outcome may come from this turn itself. So it does not show that another
			// process took the tick. The function once checks that under the lock.
			if err == nil && last != nil && !last.Tick.Before(tick) && (last.final() || s.OnCrash != CrashRetry) && !locked.Load() {
				taken.Last = last
				cancel(taken)
				return nil, t.refused(began, taken)
			}
		}
	}
}

// BeginWithin does the same as Begin for a scheduler that plans its next run only after this call. It waits for the
// lock for the time wait while another process runs an earlier tick. If the holder of the lock runs no tick, it may
// have died before it took one: BeginWithin then waits until the holder's lease can have ended. With CrashRetry it
// waits as Begin does, until ctx ends.
func (s Spec) BeginWithin(ctx context.Context, client *holdfast.Client, tick time.Time, wait time.Duration) (*Turn, error) {
	if s.OnCrash == CrashRetry || ctx == nil {
		return s.Begin(ctx, client, tick)
	}
	bounded, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	t, err := s.Begin(bounded, client, tick)
	var held *holdfast.HeldError
	if !errors.As(err, &held) || ctx.Err() != nil || held.Holder().Foreign || held.Holder().Left {
		return t, err
	}
	last, failed := Last(ctx, client, s.Name)
	if failed != nil || last != nil && last.State == Running && last.Host == held.Holder().String() {
		return nil, err
	}
	untilEnd, cancel := context.WithTimeout(ctx, held.ExpiresIn+late)
	defer cancel()
	return s.Begin(untilEnd, client, tick)
}

// refused waits until a turn whose tick another process took has ended. In a rare case this turn has begun
// nevertheless: the other process failed to store that it took the tick. refused then ends the turn.
func (t *Turn) refused(began <-chan struct{}, taken error) error {
	select {
	case <-t.done:
	case <-began:
		_ = t.End(taken)
	}
	return taken
}

// Context returns the context of the run. It ends after [Spec.Timeout], with the turn, and when the lock is lost.
// After a loss it ends before another process can get the lock. It has the values of Begin's context, and
// [holdfast.FromContext] finds the lease in it.
func (t *Turn) Context() context.Context { return t.ctx }

// Tick returns the tick and the token of the run.
func (t *Turn) Tick() Tick { return t.tick }

// End stores err as the outcome of the run, and releases the lock. If the run was asked to end before its work was
// done, err matches [ErrInterrupted]: with CrashRetry the tick then runs again. End waits for the nodes for a few
// seconds at most.
//
// End returns err. If err is nil but the lock was lost, it returns the loss, which matches [holdfast.ErrLost]. If the
// client was closed before End, the outcome is not stored, and the error matches [holdfast.ErrClosed]. Later calls
// return the same.
func (t *Turn) End(err error) error {
	t.once.Do(func() { t.ended <- err })
	<-t.done
	return t.err
}
