package renewal

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/waiting"
)

// Causes of a lease's end. The root package gives them their public names.
var (
	ErrLost     = errors.New("lock lost")
	ErrReleased = errors.New("lock already given back")
)

// LostError says how a lease was lost. It matches ErrLost.
type LostError struct {
	Gone    bool                // a majority said that it did not have it any more; else its deadline passed
	Answers []nodescript.Answer // by node: the last answers to renewals since one won, or to the release
}

func (e *LostError) Error() string { return ErrLost.Error() }

// Unwrap returns ErrLost.
func (e *LostError) Unwrap() error { return ErrLost }

// Looked is told of a lease that has been held for a moment, and returns what to do when it
// ends.
type Looked func(e *Lease) (undo func())

// Lease is a held lock. It is safe for concurrent use.
type Lease struct {
	keeper *Keeper
	lock   nodescript.Lock
	grant  waiting.Grant

	mu       sync.Mutex
	ttl      time.Duration
	deadline clock.Instant
	highest  int64         // the highest stamp sent under the owner
	over     clock.Instant // when the nodes' expiry has passed for certain
	end      error         // nil while held
	tries    []*renewal    // since one won
	timer    *time.Timer   // at the deadline; nil while the keeper has not looked at the lease
	looked   Looked        // what to do when it does; what it returns undoes that at the end
	undo     func()
	parent   context.Context
	ctx      context.Context // nil until somebody asks for it
	cancel   context.CancelCauseFunc

	// Of the keeper, under its lock.
	due   clock.Instant
	index int  // in the heap, or among the fresh ones; -1 when in neither
	fresh bool // among the fresh ones
}

// Keep begins to keep a lease that was granted. parent lends the lease's context its
// values, not its end. looked, which may be nil, is called once, when the lease has been
// held for a moment, and what it returns when the lease ends after that: most locks are
// given back before. By a keeper that is closed it is ended at once: nobody would see to that
// later. (If the fan-out is closed, too, the nodes free it with its TTL.)
func (k *Keeper) Keep(parent context.Context, l nodescript.Lock, g waiting.Grant, ttl time.Duration, looked Looked) *Lease {
	e := &Lease{
		keeper: k, lock: l, grant: g, ttl: ttl, parent: parent, looked: looked,
		deadline: g.Deadline, highest: g.Token, over: g.Sent.Add(ttl), index: -1,
	}
	if !k.add(e, g.Sent.Add(k.pace(ttl))) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.endLocked(ErrReleased, func() { e.tell(e.releaseCall(), nil) })
	}
	return e
}

// Owner is the random id under which the nodes keep the lease.
func (e *Lease) Owner() string { return e.grant.Owner }

// Token is the lease's fencing token.
func (e *Lease) Token() int64 { return e.grant.Token }

// Context ends with the lease; its cause is ErrLost or ErrReleased.
func (e *Lease) Context() context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx == nil {
		e.ctx, e.cancel = context.WithCancelCause(context.WithoutCancel(e.parent))
		if e.end != nil {
			e.cancel(e.end)
		}
	}
	return e.ctx
}

// Deadline is the instant until which the lease may be believed in.
func (e *Lease) Deadline() clock.Instant {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.deadline
}

// End is nil while the lease is held, else why it ended.
func (e *Lease) End() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked()
	return e.end
}

// watchLocked arms the timer that ends the lease at its deadline: one of its own, so that a
// renewal stuck in Redis cannot delay the verdict. e.mu is held.
func (e *Lease) watchLocked() {
	if e.end == nil && e.timer == nil {
		if e.looked != nil {
			e.undo = e.looked(e)
		}
		e.looked = nil
		e.timer = time.AfterFunc(e.deadline.Sub(e.keeper.fan.Now()), e.check)
	}
}

// check ends the lease if its deadline has passed. It is called by the lease's timer,
// and by the keeper when the host was suspended.
func (e *Lease) check() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked()
	if e.end == nil && e.timer != nil {
		e.timer.Reset(e.deadline.Sub(e.keeper.fan.Now()))
	}
}

func (e *Lease) checkLocked() {
	if e.end == nil && e.keeper.fan.Now() >= e.deadline {
		e.loseLocked(e.lost(&LostError{Answers: answersTo(e.tries, e.keeper.fan.N())}))
	}
}

// lost is what callers are told of a loss.
func (e *Lease) lost(why *LostError) error {
	if e.keeper.Explain == nil {
		return why
	}
	return e.keeper.Explain(e, why)
}

// Name is the lock's name, with its prefix.
func (e *Lease) Name() string { return e.lock.Name }

// loseLocked announces the loss, then sees to it that nothing of the lease stays: not at once, because thousands may be
// lost together, and all of them are announced before the nodes are told.
func (e *Lease) loseLocked(why error) {
	e.announceLocked(why)
	e.keeper.later(e)
}

// forgetLocked tells the nodes of a loss that was announced.
func (e *Lease) forgetLocked() {
	e.tell(e.releaseCall(), nil) // a minority may have it still
	// Last: a client that is closed gives its nodes up when it keeps no lease.
	e.keeper.remove(e)
}

func (e *Lease) releaseCall() nodescript.Call {
	return nodescript.ReleaseCall(e.lock, e.grant.Owner, e.highest)
}

// endLocked ends the belief in the lease, then tells the nodes.
func (e *Lease) endLocked(why error, tell func()) {
	e.announceLocked(why)
	tell()
	e.keeper.remove(e) // last: see forgetLocked
}

// announceLocked ends the belief in the lease.
func (e *Lease) announceLocked(why error) {
	e.end = why
	e.grant.End()
	if e.undo != nil {
		e.undo()
	}
	e.looked, e.undo = nil, nil
	if e.timer != nil {
		e.timer.Stop()
	}
	if e.ctx != nil {
		e.cancel(why)
	}
}
