package renewal

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/kind"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
)

// Causes of a lease's end. The root package maps them to its public errors.
var (
	ErrLost     = errors.New("lock lost")
	ErrReleased = errors.New("lock already given back")
)

// LostError describes the loss of a lease. It matches ErrLost.
type LostError struct {
	Gone    bool                // a majority answered that it did not have the lease; false: its deadline passed
	Answers []nodescript.Answer // by node: the last answers to renewals since one won, or to the release
}

func (e *LostError) Error() string { return ErrLost.Error() }

// Unwrap returns ErrLost.
func (e *LostError) Unwrap() error { return ErrLost }

// Looked is called with a lease that has been held for a moment. It returns the function to call at the lease's end.
type Looked func(e *Lease) (undo func())

// Lease is a held lock. It is safe for concurrent use.
type Lease struct {
	keeper *Keeper
	lock   kind.Kind
	grant  waiting.Grant

	mu       sync.Mutex
	ttl      time.Duration
	deadline clock.Instant
	highest  int64         // the highest stamp sent under the owner
	over     clock.Instant // instant at which the lease has expired on the nodes for certain
	kept     time.Time     // Close keeps the name taken until then; zero: it does not
	end      error         // nil while the lease is held
	tries    []*renewal    // renewals since one won
	timer    *time.Timer   // fires at the deadline; nil until the keeper schedules the lease
	looked   Looked        // called when the keeper schedules the lease; undo has its result
	undo     func()
	parent   context.Context
	ctx      context.Context // nil until Context is called
	cancel   context.CancelCauseFunc

	// The keeper's lock guards these.
	due   clock.Instant
	index int  // in the heap or in the list of fresh leases; -1: in neither
	fresh bool // in the list of fresh leases
}

// Keep begins to keep a granted lease. The lease's context has the values of parent, but does not end with it.
//
// looked may be nil. The keeper calls it once, when the lease has been held for a moment, and calls its result when the
// lease ends after that. Most locks are released earlier.
//
// If the keeper is closed, Keep ends and releases the lease at once, because nobody would do that later. If the fan-out
// is closed too, the nodes free the name after its TTL.
func (k *Keeper) Keep(parent context.Context, l kind.Kind, g waiting.Grant, ttl time.Duration, looked Looked) *Lease {
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

// Owner returns the random id under which the nodes store the lease.
func (e *Lease) Owner() string { return e.grant.Owner }

// Token returns the lease's fencing token.
func (e *Lease) Token() int64 { return e.grant.Token }

// Context returns a context that ends with the lease. Its cause matches ErrLost or ErrReleased.
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

// Deadline returns the instant at which the holder stops relying on the lease.
func (e *Lease) Deadline() clock.Instant {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.deadline
}

// End returns nil while the lease is held, else the cause of its end.
func (e *Lease) End() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked()
	return e.end
}

// watchLocked starts the timer that ends the lease at its deadline. The lease has a timer of its own, so that a renewal
// stuck in Redis cannot delay the loss. e.mu is held.
func (e *Lease) watchLocked() {
	if e.end == nil && e.timer == nil {
		if e.looked != nil {
			e.undo = e.looked(e)
		}
		e.looked = nil
		e.timer = time.AfterFunc(e.deadline.Sub(e.keeper.fan.Now()), e.check)
	}
}

// check ends the lease if its deadline is over. The lease's timer calls it, and the keeper calls it after a suspension
// of the host.
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

// lost returns the error that callers get for a loss.
func (e *Lease) lost(why *LostError) error {
	if e.keeper.Explain == nil {
		return why
	}
	return e.keeper.Explain(e, why)
}

// Name returns the lock's name with its prefix.
func (e *Lease) Name() string { return e.lock.Name() }

// loseLocked announces the loss, and has the lease removed from the nodes later. Thousands of leases may be lost
// together, so all of them are announced before the nodes are told.
func (e *Lease) loseLocked(why error) {
	e.announceLocked(why)
	e.keeper.later(e)
}

// forgetLocked releases a lost lease on the nodes. e.mu is held.
func (e *Lease) forgetLocked() {
	e.tell(e.releaseCall(), nil) // a minority may have it still
	// remove comes last: a closed client closes its nodes as soon as it keeps no lease.
	e.keeper.remove(e)
}

func (e *Lease) releaseCall() nodescript.Call {
	return e.lock.Release(e.grant.Owner, e.highest)
}

// endLocked announces the end of the lease, then calls tell, which informs the nodes.
func (e *Lease) endLocked(why error, tell func()) {
	e.announceLocked(why)
	tell()
	e.keeper.remove(e) // see forgetLocked
}

// announceLocked ends the lease: its holder no longer relies on it.
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
	if why == ErrReleased {
		e.emit(events.Released, nil)
	} else {
		e.emit(events.Lost, why)
	}
}

// emit tells the listeners what happened to the lease.
func (e *Lease) emit(k events.Kind, err error) {
	if s := e.keeper.Events; s.Wanted(k) {
		s.Emit(&events.Event{Kind: k, Name: e.lock.Name(), Owner: e.grant.Owner, Token: e.grant.Token, Err: err})
	}
}
