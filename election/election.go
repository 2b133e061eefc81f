package election

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/inside"
)

// Election is a name that at most one candidate leads at a time. The leader holds the lock of this name, so a
// [holdfast.Mutex] and an election of one name exclude each other. An Election is safe for concurrent use.
//
// Every candidate calls [Election.Run]. A program that is no candidate can call [Election.Leader] and
// [Election.Observe]. [Election.Resign] ends a term only if Run of the same Election value leads it.
type Election struct {
	client *holdfast.Client
	inside *inside.Client
	mutex  *holdfast.Mutex
	pause  time.Duration
	bad    error // the reason why nobody can lead, or nil

	mu      sync.Mutex
	tenures map[*tenure]bool // those of Run of this value
}

// New returns the election with this name, for a client of package holdfast. It does not use the network. The names are
// those of [holdfast.Client.Mutex].
//
// If a leader dies, the next one leads after TTL + Window, so a shorter TTL shortens this time: see [WithLock].
func New(client *holdfast.Client, name string, opts ...Option) *Election {
	var o options
	for _, opt := range opts {
		if opt != nil {
			opt.apply(&o)
		}
	}
	e := &Election{client: client, inside: inside.Of(client), tenures: map[*tenure]bool{}}
	e.mutex = client.Mutex(name, append(o.lock, holdfast.WaitThroughOutages(), holdfast.Reentrant(false))...)
	e.pause, e.bad = e.inside.Mutex(e.mutex)
	if p := o.pause; p != nil {
		if e.pause = *p; *p < 0 && e.bad == nil {
			e.bad = fmt.Errorf("election %q: %w: ResignPause is %s; want 0s or more", name, ErrBadPause, *p)
		}
	}
	return e
}

// Name returns the name as the caller gave it, without [holdfast.Config.Prefix].
func (e *Election) Name() string { return e.mutex.Name() }

// Run waits until it leads, and then calls lead. After the end of this term it waits for the next one, and so on.
// Candidates lead in the order in which they came.
//
// lead's context ends when ctx ends, when [Election.Resign] is called, or when the leadership is lost. After a loss
// this context ends before another candidate can lead, and its cause matches [holdfast.ErrLost]. In the other two
// cases Run keeps the leadership until lead has returned, so lead must return soon. [holdfast.FromContext] gives lead
// the lease.
//
// A [holdfast.Mutex] of this name that is locked with lead's context returns a handle of this lease. Unlock each handle
// before lead returns. The work under a handle relies on the lock, so a handle that is still in use keeps the
// leadership, and no other candidate leads until its Unlock.
//
// When lead returns, there are four cases:
//
//   - ctx has ended: Run gives the leadership up, and returns an error that matches ctx's Err and cause.
//   - The leadership was lost, or Resign was called: Run ignores the result of lead, and waits for the next term. After
//     Resign it first pauses: see [ResignPause].
//   - lead returned nil: this is a resignation. Run pauses, and waits for the next term.
//   - lead returned an error: Run gives the leadership up, and returns that error.
//
// If lead panics, Run gives the leadership up and does not recover the panic.
//
// Run waits through outages of the nodes. If ctx ends while Run waits, Run leaves the queue. Run returns at once if
// it can never lead. The error then matches [holdfast.ErrBadName], [holdfast.ErrBadTTL], [ErrBadPause] or
// [holdfast.ErrClosed]. It matches [holdfast.ErrReentrant] if ctx belongs to a lease of this name, for example if the
// leader itself calls Run.
func (e *Election) Run(ctx context.Context, lead func(ctx context.Context, term Term) error) error {
	switch {
	case e.bad != nil:
		return fmt.Errorf("holdfast: %w", e.bad)
	case ctx == nil:
		return e.withoutContext("Run")
	case lead == nil:
		return fmt.Errorf("holdfast: election %q: lead is nil; want a function", e.Name())
	}
	for {
		lease, err := e.mutex.Lock(ctx)
		switch {
		case err == nil:
			var again bool
			if again, err = e.lead(ctx, lease, lead); !again {
				return err
			}
		case ctx.Err() != nil && !e.inside.Closed():
			return e.ended(ctx)
		case !errors.Is(err, holdfast.ErrUnavailable) && !errors.Is(err, holdfast.ErrHeld):
			return err
		}
		if err := e.rest(ctx, err); err != nil {
			return err
		}
	}
}

// withoutContext returns the error of a call with a nil context.
func (e *Election) withoutContext(call string) error {
	return fmt.Errorf("holdfast: election %q: %s: nil Context", e.Name(), call)
}

// ended returns the error of a Run whose ctx has ended.
func (e *Election) ended(ctx context.Context) error {
	return fmt.Errorf("holdfast: election %q: %w", e.Name(), ending.Cause(ctx))
}

// outagePause is the time after a failed attempt to lead until Run tries again.
const outagePause = time.Second

// errPause tells rest that the candidate has resigned. No caller of Run sees this error.
var errPause = errors.New("resigned")

// rest waits before the next attempt to lead. why is errPause after a resignation, nil after a loss, and otherwise
// the error of the last attempt.
func (e *Election) rest(ctx context.Context, why error) error {
	pause := outagePause
	switch why {
	case nil:
		return nil
	case errPause:
		pause = e.pause
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return e.ended(ctx)
	case <-e.inside.Stop:
		return fmt.Errorf("holdfast: election %q: %w", e.Name(), holdfast.ErrClosed)
	}
}
