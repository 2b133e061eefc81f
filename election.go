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

	// ErrNoLeader means that nobody leads an election at the moment, or that this Election does not.
	ErrNoLeader = errors.New("nobody leads")

	// ErrNoElection means that the name has a value that no leader published, such as the last tick of a job.
	ErrNoElection = errors.New("the name has a value that no leader published: use another name for the election")

	// ErrBadPause means that a candidate cannot pause for this time: see [ResignPause].
	ErrBadPause = errors.New("bad pause")
)

// Election is a name that at most one candidate leads at a time. Its leader has the lock of that name: a [Mutex] and an
// election of one name exclude each other. An Election is safe for concurrent use.
//
// Every candidate calls [Election.Run]. [Election.Leader] and [Election.Observe] need no candidate. [Election.Resign]
// ends a term that a Run of the same Election value leads.
type Election struct {
	client *Client
	mutex  *Mutex
	pause  time.Duration
	bad    error // the reason why nobody can lead, or nil

	mu    sync.Mutex
	terms map[*tenure]bool // that run
}

// Election returns the election with this name. It does not use the network. The names are those of [Client.Mutex].
//
// The options are those of a Mutex, and [ResignPause]. A candidate always waits through outages. [Reentrant] has no
// effect: see [Election.Run]. After the death of a leader the next one leads after the TTL and a Window, so a shorter
// [WithTTL] moves the leadership sooner.
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

// ResignPause sets the time for which a candidate that has resigned does not campaign. 0 campaigns at once. For a
// negative time [Election.Run] returns an error that matches [ErrBadPause]. It concerns elections only. Defaults to the
// TTL of the election.
func ResignPause(d time.Duration) Option { return option(func(o *options) { o.pause = &d }) }

// Name returns the name as the caller gave it, without [Config.Prefix].
func (e *Election) Name() string { return e.mutex.name }

// Run campaigns until it leads, runs lead, and campaigns again after the end of the term. Candidates lead in the order
// in which they came.
//
// lead's context ends when ctx ends, when [Election.Resign] is called, and when the leadership is lost. After a loss it
// ends before another candidate can lead; its cause then matches [ErrLost]. [FromContext] gives lead the lease. In the
// other cases Run keeps the leadership until lead has returned, so lead must return soon after the end of its context.
//
// What happens after lead returned:
//
//   - ctx has ended: Run gives the leadership up, and returns an error that matches ctx's Err and cause.
//   - The leadership was lost, or Resign was called: the result of lead is ignored. After Resign, Run first pauses: see
//     [ResignPause].
//   - lead returned nil: it has resigned. Run pauses, and campaigns again.
//   - lead returned an error: Run gives the leadership up, and returns that error. It does not campaign again.
//
// If lead panics, Run gives the leadership up, and the panic goes on.
//
// Run waits through outages of the nodes. A campaign ends with ctx, and leaves no place in a queue. Run returns at once
// if it can never lead: the error matches [ErrBadName], [ErrBadTTL], [ErrBadPause] or [ErrClosed]. It matches
// [ErrReentrant] if ctx belongs to a lease of this name, such as that of the leader itself.
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

// ended returns the error of a Run that ctx ended.
func (e *Election) ended(ctx context.Context) error {
	return fmt.Errorf("holdfast: election %q: %w", e.Name(), ending.Cause(ctx))
}

// outagePause is the time between two campaigns if the first one failed.
const outagePause = time.Second

// errPause makes Run pause before it campaigns again.
var errPause = errors.New("resigned")

// rest waits before the next campaign. why is errPause after a resignation, nil after a loss, and else the error of the
// last campaign.
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
