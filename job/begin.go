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

// Turn is a run that this process has begun with [Spec.Begin]. It lasts until [Turn.End]. It is safe for concurrent use.
type Turn struct {
	ctx   context.Context
	tick  Tick
	once  sync.Once
	ended chan error    // the result of the run
	done  chan struct{} // closed when the outcome is stored and the lock released
	ran   bool
	err   error
}

// ErrTaken means that a run did not begin because its tick, or a later one, was taken. Evidence: [*TakenError].
var ErrTaken = errors.New("the tick was taken")

// TakenError says who took a tick. It matches [ErrTaken].
type TakenError struct {
	Name string
	Tick time.Time // the tick that the caller wanted
	Last *Outcome  // the last tick that was taken; nil if the nodes did not say
}

func (e *TakenError) Error() string {
	s := fmt.Sprintf("job %q: the tick %s was taken", e.Name, e.Tick.Format(time.RFC3339))
	switch {
	case e.Last == nil:
	case e.Last.Tick.Equal(e.Tick):
		s += fmt.Sprintf(" by %s (%s)", e.Last.Host, e.Last.State)
	default:
		s += fmt.Sprintf(": %s took the later tick %s", e.Last.Host, e.Last.Tick.Format(time.RFC3339))
	}
	return s
}

// Unwrap makes the error match ErrTaken.
func (e *TakenError) Unwrap() error { return ErrTaken }

// lookGap is the time between two looks of a waiting Begin. The lock does not say for which tick it is held.
const lookGap = 250 * time.Millisecond

// Begin does the same as [Spec.Once] in two halves, for a scheduler that has one call before a run and one after it. The
// caller works until the context of the turn ends at the latest, and then calls [Turn.End].
//
// ctx bounds the wait for the lock, not the run. If another process runs an earlier tick, Begin waits. If another process
// took the tick, the error is a [*TakenError]; with CrashRetry this error comes only after the end of that run. The other
// errors are those of [Spec.Once]: if ctx ends while another process has the lock, the error is a [*holdfast.HeldError].
func (s Spec) Begin(ctx context.Context, client *holdfast.Client, tick time.Time) (*Turn, error) {
	tick = tick.UTC()
	t := &Turn{ended: make(chan error, 1), done: make(chan struct{})}
	began := make(chan struct{})
	var locked atomic.Bool
	waiting, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	go func() { // until End, or until Once refuses
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
				taken.Last, _ = Last(ctx, client, s.Name) // the error is complete without it
			}
			return nil, taken
		case <-look.C:
			last, err := Last(waiting, client, s.Name)
			// With the lock the outcome may be the claim of this turn itself. Then its load decides.
			if err == nil && last != nil && !last.Tick.Before(tick) && (last.over() || s.OnCrash != CrashRetry) && !locked.Load() {
				taken.Last = last
				cancel(taken)
				return nil, t.refused(began, taken)
			}
		}
	}
}

// refused waits for the end of a turn whose tick another process took. If that process could not store its claim, and this
// one has begun meanwhile, the turn ends here.
func (t *Turn) refused(began <-chan struct{}, taken error) error {
	select {
	case <-t.done:
	case <-began:
		_ = t.End(taken)
	}
	return taken
}

// Context returns the context of the run. It ends when the lock is lost, before another process can get it, and after
// [Spec.Timeout]. It also ends with the turn. It has the values of Begin's context, and [holdfast.FromContext] returns
// the lease.
func (t *Turn) Context() context.Context { return t.ctx }

// Tick returns the tick and the token of the run.
func (t *Turn) Tick() Tick { return t.tick }

// End stores the outcome of the run, err, and releases the lock. It waits for the nodes for a few seconds at most. It
// returns err. If err is nil and the lock was lost, it returns the cause, which matches [holdfast.ErrLost]. Further calls
// return the same.
func (t *Turn) End(err error) error {
	t.once.Do(func() { t.ended <- err })
	<-t.done
	return t.err
}
