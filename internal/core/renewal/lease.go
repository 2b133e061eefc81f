package renewal

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
)

// These are the causes of a lease's end. The root package maps them to its public errors.
var (
	ErrLost     = errors.New("lock lost")
	ErrReleased = errors.New("lock already given back")
)

// LostError describes the loss of a lease. It matches ErrLost.
type LostError struct {
	Gone    bool                // true: a majority answered that it did not have the lease; false: the deadline passed
	MaxHold time.Duration       // the limit of the lease if that ended it, else 0: see [Lease.Limit]
	Early   time.Duration       // so long before the deadline the lease was lost, because its process was late
	Delay   time.Duration       // how late the goroutines of this process ran, if that may have cost the lease, else 0
	Stopped time.Duration       // how long the process did not run at all before the loss, 0 if it ran
	Answers []nodescript.Answer // by node: the answer to the release, or to the renewals since the last one that won
}

func (e *LostError) Error() string { return ErrLost.Error() }

// Unwrap returns ErrLost.
func (e *LostError) Unwrap() error { return ErrLost }

// Alarm is called once for a lease that has been held for a moment. The function that it returns is called when the
// lease ends.
type Alarm func(e *Lease) (undo func())

// Lease is a held lock. It is safe for concurrent use.
type Lease struct {
	keeper *Keeper
	lock   nodescript.Kind
	grant  waiting.Won
	reader atomic.Pointer[reader] // the fields after a downgrade; nil: the lease was not downgraded

	until ending.Deadline // the deadline for those who do not have mu

	mu       sync.Mutex
	former   *former // the exclusive lease during a downgrade, otherwise nil
	ttl      time.Duration
	deadline clock.Instant
	by       bid.Nodes     // the nodes whose yes the deadline comes from
	bySent   clock.Instant // when they were asked
	highest  int64         // the highest stamp sent under the owner
	over     clock.Instant // the instant at which the lease has expired on all nodes
	end      error         // nil while the lease is held
	tries    []*renewal    // the renewals since the last one that won
	timer    *time.Timer   // fires at the deadline; nil until the keeper schedules the lease
	alarm    Alarm         // called when the keeper schedules the lease; its result is undo
	undo     func()
	parent   context.Context
	rare     *rare           // nil: none of its fields was set
	ctx      context.Context // nil until Context is called
	cancel   context.CancelCauseFunc

	// The mutex of the keeper guards these fields.
	due   clock.Instant
	lane  *lane // the lane that schedules the lease; nil: it was not scheduled yet
	index int32 // the index in the heap of the lane, or in the list of fresh leases; -1: the lease is in neither

	learning atomic.Bool // a goroutine announces the end: see learn. It is here because it needs no more memory here
}

// rare contains the fields that most leases do not need. It is separate to save memory.
type rare struct {
	kept    clock.Instant // Close keeps the name taken until this instant; 0: Close releases the name
	watcher Watcher       // nil: the lease has no watcher
	began   clock.Instant // the instant at which the keeper got the lease; 0: no listener wants to know
	hooks   *list.List    // the functions of OnEnd; nil: there are none
	limit   *limit        // nil: the lease has no limit
}

// rareLocked returns the rare fields, and allocates them if needed. The caller holds e.mu.
func (e *Lease) rareLocked() *rare {
	if e.rare == nil {
		e.rare = &rare{}
	}
	return e.rare
}

// watcherLocked returns the watcher, or nil. The caller holds e.mu.
func (e *Lease) watcherLocked() Watcher {
	if e.rare == nil {
		return nil
	}
	return e.rare.watcher
}

// Keep starts to keep a granted lease. The lease's context has the values of parent, but does not end with parent.
//
// alarm may be nil. The keeper calls it once when the lease has been held for a moment, and calls the function that
// alarm returned when the lease ends. Most locks are released earlier, so they cost no such calls.
//
// If the keeper is closed, Keep ends the lease and releases it at once, because Close will not come again to do so. If
// the fan-out is closed too, no release is sent, and the nodes free the name after its TTL.
func (k *Keeper) Keep(parent context.Context, l nodescript.Kind, g waiting.Won, ttl time.Duration, alarm Alarm) *Lease {
	e := &Lease{
		keeper: k, lock: l, grant: g, ttl: ttl, parent: parent, alarm: alarm,
		deadline: g.Deadline, by: g.By, bySent: g.Sent, highest: g.Token, over: g.Sent.Add(ttl), index: -1,
	}
	e.grant.Fan = cmp.Or(g.Fan, k.fan)
	e.until.Set(e.deadline)
	if k.Events != nil && k.Events.Timed {
		e.rare = &rare{began: k.fan.Now()}
	}
	if !k.add(e, g.Sent.Add(k.soonPace(ttl))) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.announceLocked(ErrReleased)
		e.emit(events.Released, nil, e.heldFor())
		e.sendOnly(e.releaseCall(), nil)
		e.keeper.remove(e)
		return e
	}
	for i := range e.grant.Fan.N() {
		if g.By.Has(i) && e.grant.Fan.Left(i, g.Sent) { // the keeper may have learned of it before it had the lease
			e.left()
		}
	}
	return e
}

// Owner returns the random id under which the nodes store the lease. A downgrade changes it.
func (e *Lease) Owner() string {
	if r := e.reader.Load(); r != nil {
		return r.owner
	}
	return e.grant.Owner
}

// Token returns the lease's fencing token. A downgrade raises it.
func (e *Lease) Token() int64 {
	if r := e.reader.Load(); r != nil {
		return r.token
	}
	return e.grant.Token
}

// Context returns a context that ends with the lease. Its cause matches ErrLost or ErrReleased. Its Err looks at the
// clock.
func (e *Lease) Context() context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx == nil {
		e.ctx, e.cancel = context.WithCancelCause(context.WithoutCancel(e.parent))
		e.ctx = ending.Checked{Context: e.ctx, Ender: e.Ender()}
		if e.end != nil {
			e.cancel(e.end)
		}
	}
	return e.ctx
}

// Ender returns the end of the lease.
func (e *Lease) Ender() ending.Ender { return held{e} }

// Deadline returns the instant at which the holder stops relying on the lease.
func (e *Lease) Deadline() clock.Instant {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.boundLocked()
}

// End returns nil while the lease is held, else the cause of its end.
func (e *Lease) End() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked()
	return e.end
}

// Held reports whether the lease is held now. Unlike End it does not end a lease whose deadline has passed, and it
// touches no timer. So the garbage collector may call it, which is outside of every bubble of testing/synctest.
func (e *Lease) Held() bool {
	until := e.until.At()
	return e.keeper.fan.Now() < until
}

// fresh reports whether the lease is in the list of fresh leases. The caller holds the mu of the keeper.
func (e *Lease) fresh() bool { return e.lane == nil && e.index >= 0 }

// watchLocked starts the timer that ends the lease at its deadline. Each lease has its own timer. So a renewal that is
// stuck in the network cannot delay the loss. The caller holds e.mu.
func (e *Lease) watchLocked() {
	if e.end == nil && e.timer == nil {
		if e.alarm != nil {
			e.undo = e.alarm(e)
		}
		e.alarm = nil
		e.timer = e.keeper.fan.AfterFunc(e.nextCheckLocked(), e.check)
	}
}

// check ends the lease if its deadline has passed, or soon passes in a process that is late: see earlyLocked. The
// lease's timer calls check. The keeper calls check after the host was suspended.
func (e *Lease) check() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked()
	if e.end == nil {
		left := e.deadline.Sub(e.keeper.fan.Now())
		if early := e.earlyLocked(); early > 0 && left <= early {
			e.expireLocked(max(left, 0), e.keeper.Delay())
		}
	}
	if e.end == nil && e.timer != nil {
		e.timer.Reset(e.nextCheckLocked())
	}
}

func (e *Lease) checkLocked() {
	if e.end == nil && e.ended() {
		e.expireLocked(0, 0)
	}
}

// expireLocked ends a lease whose deadline or limit has passed, or whose deadline passes after early.
func (e *Lease) expireLocked(early, delay time.Duration) {
	why := &LostError{Early: early, Delay: delay}
	if early == 0 && e.limitedLocked() {
		why.MaxHold = e.rare.limit.d
	} else {
		why.Answers = e.answersLocked()
		if why.Stopped = e.keeper.stalled(); why.Stopped == 0 {
			why.Delay = max(delay, e.lateLocked())
		}
	}
	e.loseLocked(e.lost(why))
}

// lost returns the error that callers get for a loss.
func (e *Lease) lost(why *LostError) error {
	if e.keeper.Explain == nil {
		return why
	}
	return e.keeper.Explain(e, why)
}

// Kind returns the kind of the lock. For a semaphore this is the slot. A downgrade changes the kind.
func (e *Lease) Kind() nodescript.Kind {
	if r := e.reader.Load(); r != nil {
		return r.lock
	}
	return e.lock
}

// Name returns the lock's name with its prefix.
func (e *Lease) Name() string { return e.lock.Name() }

// loseLocked announces a loss, and lets another goroutine release the lease on the nodes. Thousands of leases may be
// lost at one moment. Their holders must know it before their deadlines, and the requests to the nodes would delay
// that.
func (e *Lease) loseLocked(why error) {
	e.announceLocked(why)
	e.emit(events.Lost, why, e.heldFor())
	e.keeper.later(e)
}

// forgetLocked releases a lost lease on the nodes. The caller holds e.mu.
func (e *Lease) forgetLocked() {
	e.sendOnly(e.releaseCall(), nil) // a minority of the nodes may still have the lease
	if e.former != nil {
		e.sendOnly(e.former.releaseCall(), nil)
	}
	// remove comes last. A client that is closing waits until it keeps no lease, and then closes its connections to
	// the nodes.
	e.keeper.remove(e)
}

func (e *Lease) releaseCall() nodescript.Call {
	return e.Kind().Release(e.Owner(), e.highest)
}

// endLocked ends the lease for its holder. The caller then sends the requests of b to the nodes, and calls
// keeper.remove last: see forgetLocked. The result of b shows whether the lease was released or had been lost, so only
// b emits the event of the end.
func (e *Lease) endLocked(b *giveback) {
	e.announceLocked(ErrReleased)
	b.ends, b.held, b.sent = true, e.heldFor(), e.bySent
}

// announceLocked ends the lease and cancels its context. From now on the holder no longer relies on the lease.
func (e *Lease) announceLocked(why error) {
	e.until.End()
	e.end = why
	e.cancelLocked(why)
	e.grant.End()
	if e.former != nil {
		e.former.done.set(why)
	}
	if e.undo != nil {
		e.undo()
	}
	e.alarm, e.undo = nil, nil
	if e.timer != nil {
		e.timer.Stop()
	}
}

// heldFor returns how long the lease was held until now. It returns 0 if no listener wants to know.
func (e *Lease) heldFor() time.Duration {
	if e.rare == nil || e.rare.began == 0 {
		return 0
	}
	return e.keeper.fan.Now().Sub(e.rare.began)
}

// emit emits the event of the lease's end, Lost or Released. Each lease has one of them, once.
func (e *Lease) emit(what events.Kind, why error, held time.Duration) {
	if s := e.keeper.Events; s.Wanted(what) {
		ev := e.event(what)
		ev.Err, ev.Held = why, held
		s.Emit(ev)
	}
}

// event returns an event of the lease.
func (e *Lease) event(k events.Kind) events.Event {
	return events.Event{Kind: k, Name: e.lock.Name(), Owner: e.Owner(), Token: e.Token(), Lease: e.ID()}
}

// ID returns the first owner of the lease. A downgrade does not change it.
func (e *Lease) ID() string { return e.grant.Owner }
