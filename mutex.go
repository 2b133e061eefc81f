package holdfast

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
	"github.com/holdfast-go/holdfast/verdict"
)

// Mutex is a name that can be locked. It stores only its settings, and not whether it is locked. So a program may
// make a new Mutex for every use, and many goroutines may use one Mutex.
//
// A call with a nil context or a nil function returns an error that says so, and takes no lock.
type Mutex struct {
	options
	client *Client
	name   string
	lock   *nodescript.Exclusive
	slots  *nodescript.Semaphore // slots of a semaphore; nil: this is a lock
	bad    error                 // why the name, the TTL or the number of slots is bad; nil: all are good
}

// Name returns the name as the caller gave it, without [Config.Prefix].
func (m *Mutex) Name() string { return m.name }

// Do waits for the lock, runs fn while it holds the lock, and then releases the lock. Prefer Do to Lock, because with
// Do nobody can forget the release.
//
// fn's context is a child of ctx: it has ctx's deadline, and ends when ctx ends. It also ends when the lock is lost,
// before somebody else can get the lock; fn must then stop writing. [FromContext] gives fn the lease, for its token.
//
// Do returns fn's error. If the lock was lost while fn ran, the error matches [ErrLost], even if fn returned nil: the
// last work of fn may have overlapped with the work of the next holder. If [Client.Close] released the lock while fn
// ran, the error matches [ErrClosed] for the same reason, because Close does not wait for fn. Both errors also match
// fn's error.
//
// If fn did not run, the error is that of [Mutex.Lock]. An error of fn may match [ErrHeld], too. If you must know
// whether fn ran, set a variable in fn.
//
// fn may call Do or Lock of the same name with its context. The inner call then gets a handle of the same lease.
func (m *Mutex) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	if err := m.runnable("Do", ctx, fn); err != nil {
		return err
	}
	lease, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	return m.client.run(ctx, lease, fn)
}

// TryDo does the same as [Mutex.Do], but does not wait. If fn did not run, the error is that of [Mutex.TryLock]: it
// matches [ErrHeld] if somebody has the lock.
func (m *Mutex) TryDo(ctx context.Context, fn func(ctx context.Context) error) error {
	if err := m.runnable("TryDo", ctx, fn); err != nil {
		return err
	}
	lease, err := m.TryLock(ctx)
	if err != nil {
		return err
	}
	return m.client.run(ctx, lease, fn)
}

// Lock waits until it has the lock, and returns the lease. The client renews the lease until [Lease.Unlock].
//
// ctx limits the wait, and not the lease. The lease's context has the values of ctx. If ctx ends first, the error
// matches ctx's Err and cause. It also matches ErrHeld or ErrUnavailable, by the result of the last attempt.
//
// If no majority of the nodes answers for a second, Lock gives up with an error that matches ErrUnavailable. If a
// majority has answered since Lock began, it waits for the TTL of this call instead of a second, if that is longer. The
// error may come one or two [Config.NodeTimeout] later. If several goroutines wait for one name, each of
// them gets this error, even if it is not the first in line.
//
// Lock waits for the end of quarantines: times in which restarted nodes do not vote. With [WaitThroughOutages] it
// also waits for the end of outages.
//
// The error matches [ErrBadName] for a bad name, and [ErrBadTTL] for a bad TTL.
//
// ctx may belong to a lease of this lock from this client. Then Lock asks no node and returns a handle of that lease
// at once. Each context has at most one handle at a time. A second call with the same context waits in this process
// until the first handle, and all handles made from it, are released. If the lease has ended, the error matches the
// cause of its end, [ErrLost] or [ErrReleased]. If m has a longer TTL than the lease, the lease gets this TTL while
// the handle is in use. With [Reentrant](false) Lock returns no handle, and the error matches [ErrReentrant].
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) {
	if ctx == nil {
		return nil, m.without("Lock", "Context")
	}
	if l := m.leaseIn(ctx); l != nil {
		return m.under(ctx, l, true, false)
	}
	if err := m.begin(ctx, true); err != nil {
		return nil, m.prefix(err)
	}
	defer m.client.taking.Done()
	began := m.startTime()
	g, r := waited(m.client.locker.WaitFor(ctx, m.want(m.kind())))
	return m.lease(ctx, began, g, r)
}

// waited marks the refusal of a call that waited. It makes a copy, because other calls may have the same refusal.
func waited(g waiting.Grant, r *waiting.Refusal) (waiting.Grant, *waiting.Refusal) {
	if r != nil {
		marked := *r
		marked.Waited, r = true, &marked
	}
	return g, r
}

// want describes a call that waits, for the package waiting.
func (m *Mutex) want(k nodescript.Kind) waiting.Want {
	want := waiting.Want{Lock: k, TTL: m.ttl, Through: m.through}
	if m.listens() {
		want.Told = func(r *waiting.Refusal) { m.reportWait(m.prefix(m.refused(r))) }
	}
	return want
}

// TryLock takes the lock if nobody has it. If somebody has it, the error matches [ErrHeld] and is a [*HeldError]. If
// too few nodes answered, the error matches [ErrUnavailable] and is an [*UnavailableError]. If several clients try at
// the same instant, their votes may split so that none has a majority. TryLock then tries again for a moment, so that
// one of them gets the lock.
//
// If ctx belongs to a lease of this lock, TryLock returns a handle of that lease, as [Mutex.Lock] does. If another
// goroutine already has the handle of this context, the error matches ErrHeld.
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) {
	if ctx == nil {
		return nil, m.without("TryLock", "Context")
	}
	if l := m.leaseIn(ctx); l != nil {
		return m.under(ctx, l, false, false)
	}
	if err := m.begin(ctx, false); err != nil {
		return nil, m.prefix(err)
	}
	defer m.client.taking.Done()
	began := m.startTime()
	g, r := m.client.locker.Try(ctx, m.kind(), m.ttl)
	return m.lease(ctx, began, g, r)
}

// leaseIn returns the innermost lease of this lock in ctx, or nil. ctx may have leases of other locks inside that
// lease. A slot of a semaphore with the same name counts for any number of slots, because a caller has one slot at
// most. A lease of another client does not count, even for the same name: the other client may use other nodes. For
// example, a program that moves from one node set to another must take the lock on both.
func (m *Mutex) leaseIn(ctx context.Context) *Lease {
	for l, ok := FromContext(ctx); ok; l, ok = FromContext(l.outer()) {
		k := l.held.Kind()
		if _, slot := k.(*nodescript.Slot); l.client == m.client && slot == (m.slots != nil) && k.Name() == m.lock.Name() {
			return l
		}
	}
	return nil
}

// under returns a handle below l, a lease of the caller's context. wait allows the call to wait for other handles.
// shared asks for a reader's handle.
func (m *Mutex) under(ctx context.Context, l *Lease, wait, shared bool) (*Lease, error) {
	if m.never {
		return nil, m.prefix(fmt.Errorf("%s %q: %w", m.noun(), m.name, ErrReentrant))
	}
	if err := m.begin(ctx, false); err != nil {
		return nil, m.prefix(err)
	}
	defer m.client.taking.Done()
	over := func(err error) error {
		return m.prefix(fmt.Errorf("%s %q under its own lease: %w", m.noun(), m.name, err))
	}
	if m.slots != nil && l.Slot() >= m.k() {
		return nil, over(badSlots{fmt.Errorf("the lease has slot %d, and this call uses only the slots below %d; give it a larger k", l.Slot(), m.k())})
	}
	h, err := l.take(ctx, m.ttl, nil, shared)
	if err != nil {
		return nil, over(err)
	}
	if h != nil {
		return h, nil
	}
	own := verdict.HolderOf(l.Owner(), false)
	own.Own = true
	held := &HeldError{
		Name: m.name, Slots: m.k(), ExpiresIn: max(time.Until(l.Deadline()), 0), Holders: []verdict.Holder{own}, handle: true,
	}
	if !wait {
		return nil, m.prefix(held)
	}
	if m.listens() {
		m.reportWait(m.prefix(held))
	}
	t := l.queue(shared)
	defer l.leaves(t)
	for {
		select {
		case <-t.came:
		case <-l.held.Context().Done():
		case <-ctx.Done():
			return nil, m.prefix(ended(ctx, held))
		case <-m.client.stop:
			return nil, m.prefix(fmt.Errorf("%s %q: %w", m.noun(), m.name, ErrClosed))
		}
		if h, err := l.take(ctx, m.ttl, t, shared); err != nil {
			return nil, over(err)
		} else if h != nil {
			return h, nil
		}
	}
}

// listens reports whether some listener wants to know that a call still waits.
func (m *Mutex) listens() bool { return m.waiting != nil || m.client.events.Wanted(events.Waiting) }

// reportWait informs the listeners that a call still waits. why is the error of its last attempt.
func (m *Mutex) reportWait(why error) {
	e := events.Event{Kind: events.Waiting, Name: m.lock.Name(), Err: why}
	m.client.events.Emit(e)
	if m.waiting != nil {
		m.waiting(&e)
	}
}

// begin checks whether a call may begin. If it returns nil, the caller must call taking.Done at the end. wait is true for a
// call that may wait for the end of an outage.
func (m *Mutex) begin(ctx context.Context, wait bool) error {
	switch {
	case m.bad != nil:
		return m.bad
	case ctx.Err() != nil && !m.client.closed.Load():
		return fmt.Errorf("%s %q: %w", m.noun(), m.name, ending.Cause(ctx))
	case !m.client.enter():
		return fmt.Errorf("%s %q: %w", m.noun(), m.name, ErrClosed)
	}
	if _, err := m.client.reach(ctx, m); err != nil {
		return m.reachLater(ctx, err, wait)
	}
	return nil
}

// lookAgain is the pause before a waiting call asks again for the topology of a Redis Cluster.
const lookAgain = 200 * time.Millisecond

// reachLater waits until the topology of a Redis Cluster is known, for as long as a wait without a majority may last. err
// is the error of the first question. If wait is false, it does not wait. It calls taking.Done if it returns an error.
func (m *Mutex) reachLater(ctx context.Context, err error, wait bool) error {
	for began := m.client.now(); wait && (m.through || m.client.now().Sub(began) < waiting.Patience); {
		if m.listens() {
			m.reportWait(m.prefix(err))
		}
		pause := time.NewTimer(lookAgain)
		select {
		case <-pause.C:
		case <-ctx.Done():
		case <-m.client.stop:
		}
		pause.Stop()
		if ctx.Err() != nil || m.client.closed.Load() {
			break
		}
		if _, err = m.client.reach(ctx, m); err == nil {
			return nil
		}
	}
	m.client.taking.Done()
	var un *UnavailableError
	switch {
	case m.client.closed.Load():
		return fmt.Errorf("%s %q: %w", m.noun(), m.name, ErrClosed)
	case ctx.Err() != nil:
		return ended(ctx, err)
	case errors.As(err, &un):
		un.outage = wait && !m.through
	}
	return err
}

// startTime returns the present time if a listener wants to know how long the lock took. Otherwise it returns 0 and
// does not read the clock: a free lock takes so little time that this reading would be a visible part of it.
func (m *Mutex) startTime() clock.Instant {
	if s := &m.client.events; s.Wanted(events.Acquired) || s.Wanted(events.Refused) {
		return m.client.now()
	}
	return 0
}

func (m *Mutex) prefix(err error) error { return fmt.Errorf("holdfast: %w", err) }

// lease returns the lease of a call that got a grant, or the error for its refusal.
func (m *Mutex) lease(ctx context.Context, began clock.Instant, g waiting.Grant, r *waiting.Refusal) (*Lease, error) {
	if r != nil {
		err := m.failed(ctx, r)
		m.refuse(ctx, began, err)
		return nil, err
	}
	var l *Lease
	if g.Share == nil {
		l = newLease(ctx, m, g)
	} else {
		l = g.Share.(*share).enter(ctx, m)
	}
	if m.client.events.Wanted(events.Acquired) {
		m.client.events.Emit(events.Event{
			Kind: events.Acquired, Name: m.lock.Name(), Owner: l.held.Owner(), Token: l.held.Token(), Lease: l.held.ID(),
			Context: ctx, Joined: g.Owner == "", Took: m.client.now().Sub(began),
		})
	}
	if m.client.closed.Load() && l.held.End() != nil { // Close did not wait for this call, and has ended the new lease
		return nil, m.prefix(fmt.Errorf("%s %q: %w", m.noun(), m.name, ErrClosed))
	}
	return l, nil
}

// failed returns the error of a call that got a refusal.
func (m *Mutex) failed(ctx context.Context, r *waiting.Refusal) error {
	switch {
	case ctx.Err() != nil:
		return m.prefix(ended(ctx, m.refused(r)))
	case m.client.closed.Load():
		return m.prefix(fmt.Errorf("%s %q: %w", m.noun(), m.name, ErrClosed))
	}
	return m.prefix(m.refused(r))
}

// refuse informs the listeners that a call has failed.
func (m *Mutex) refuse(ctx context.Context, began clock.Instant, err error) {
	if m.client.events.Wanted(events.Refused) {
		m.client.events.Emit(events.Event{
			Kind: events.Refused, Name: m.lock.Name(), Context: ctx, Took: m.client.now().Sub(began), Err: err,
		})
	}
}

// refused makes the public error from the refusal of the package waiting.
func (m *Mutex) refused(r *waiting.Refusal) error {
	nodes := m.client.set(m.lock.Name()).said.All(m.record, r.Answers, r.Err)
	if r.Kind == waiting.Unavailable {
		e := m.client.unavailable(m.name, m.k(), nodes)
		e.outage = r.Waited && !m.through
		return e
	}
	owner, foreign, left := r.Holder()
	if left == nodescript.Forever {
		left = -1
	} else {
		left = max(left-r.Age(m.client.now()), 0)
	}
	e := &HeldError{Name: m.name, Slots: m.k(), ExpiresIn: left, Place: r.Rank() + 1, Nodes: nodes}
	if owner != "" || foreign {
		owners := []string{owner}
		if n := r.Readers(); n != nil {
			e.Readers, owners = n.Readers, n.Owners
		}
		for _, owner := range owners {
			h := verdict.HolderOf(owner, foreign)
			h.Own = m.client.sets.owns(owner)
			e.Holders = append(e.Holders, h)
		}
	}
	return e
}
