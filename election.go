package holdfast

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/ending"
)

var (
	// ErrResigned means that the caller itself ended its term with [Election.Resign].
	ErrResigned = errors.New("the leader has resigned")

	// ErrNoLeader means that nobody leads the election at the moment. From Resign it means that this Election value
	// leads no term.
	ErrNoLeader = errors.New("nobody leads")

	// ErrNoElection means that the value of this name was not published by a leader. For example, it is the last tick
	// of a job.
	ErrNoElection = errors.New("the name has a value that no leader published: use another name for the election")

	// ErrBadPause means that the pause of [ResignPause] is negative.
	ErrBadPause = errors.New("bad pause")
)

// Election is a name that at most one candidate leads at a time. The leader holds the lock of this name, so a [Mutex]
// and an election of one name exclude each other. An Election is safe for concurrent use.
//
// Every candidate calls [Election.Run]. A program that is no candidate can call [Election.Leader] and
// [Election.Observe]. [Election.Resign] ends a term only if Run of the same Election value leads it.
type Election struct {
	client *Client
	mutex  *Mutex
	pause  time.Duration
	bad    error // the reason why nobody can lead, or nil

	mu    sync.Mutex
	terms map[*tenure]bool // the terms that Run of this value leads now
}

// Election returns the election with this name. It does not use the network. The names are those of [Client.Mutex].
//
// The options are those of a Mutex, and [ResignPause]. A candidate always waits through outages. [Reentrant] has no
// effect: see [Election.Run]. If a leader dies, the next one leads after TTL + Window, so a shorter [WithTTL]
// shortens this time.
func (c *Client) Election(name string, opts ...Option) *Election {
	e := &Election{client: c, terms: map[*tenure]bool{}}
	e.mutex = c.Mutex(name, append(append([]Option{}, opts...), WaitThroughOutages(), Reentrant(false))...)
	e.pause, e.bad = e.mutex.ttl, e.mutex.bad
	if p := e.mutex.pause; p != nil {
		if e.pause = *p; *p < 0 && e.bad == nil {
			e.bad = fmt.Errorf("election %q: %w: ResignPause is %s; want 0s or more", name, ErrBadPause, *p)
		}
	}
	return e
}

// ResignPause sets the time for which a candidate that has resigned does not try to lead again. With 0 it tries at
// once. For a negative time [Election.Run] returns an error that matches [ErrBadPause]. The option has an effect for
// elections only. Defaults to the TTL of the election.
func ResignPause(d time.Duration) Option { return option(func(o *options) { o.pause = &d }) }

// Name returns the name as the caller gave it, without [Config.Prefix].
func (e *Election) Name() string { return e.mutex.name }

// Run waits until it leads, and then calls lead. After the end of this term it waits for the next one, and so on.
// Candidates lead in the order in which they came.
//
// lead's context ends when ctx ends, when [Election.Resign] is called, or when the leadership is lost. After a loss
// this context ends before another candidate can lead, and its cause matches [ErrLost]. In the other two cases Run
// keeps the leadership until lead has returned, so lead must return soon. [FromContext] gives lead the lease.
//
// A [Mutex] of this name that is locked with lead's context returns a handle of this lease. Unlock each handle before
// lead returns. The work under a handle relies on the lock, so a handle that is still in use keeps the leadership,
// and no other candidate leads until its Unlock.
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
// it can never lead. The error then matches [ErrBadName], [ErrBadTTL], [ErrBadPause] or [ErrClosed]. It matches
// [ErrReentrant] if ctx belongs to a lease of this name, for example if the leader itself calls Run.
func (e *Election) Run(ctx context.Context, lead func(ctx context.Context, term Term) error) error {
	switch {
	case e.bad != nil:
		return e.mutex.prefix(e.bad)
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
		case ctx.Err() != nil && !e.client.closed.Load():
			return e.ended(ctx)
		case !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrHeld):
			return err
		}
		if err := e.rest(ctx, err); err != nil {
			return err
		}
	}
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
	case <-e.client.stop:
		return fmt.Errorf("holdfast: election %q: %w", e.Name(), ErrClosed)
	}
}
