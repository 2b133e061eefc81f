package holdfast

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/kind"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
)

// Mutex is a name that can be locked. A Mutex has no state: a program may make a new one for every use, and many
// goroutines may use one.
type Mutex struct {
	options
	client *Client
	name   string
	lock   *kind.Exclusive
	slots  *kind.Slots // of a semaphore; nil: it is a lock
	bad    error       // the reason why the name cannot be locked, or nil
}

// Name returns the name as the caller gave it, without [Config.Prefix].
func (m *Mutex) Name() string { return m.name }

// Do waits for the lock, runs fn while it holds the lock, and releases it. It is the preferred way to use a lock,
// because the caller cannot forget the release.
//
// fn's context ends when ctx ends. If the lock is lost, it ends before somebody else can get the lock; fn must then
// stop writing. [FromContext] gives fn the lease, for its token.
//
// Do returns fn's error. If the lock was lost while fn ran, the error matches [ErrLost], even if fn returned nil. The
// last work of fn may have overlapped with the next holder. If [Client.Close] released the lock while fn ran, the error
// matches [ErrClosed] for the same reason; Close does not wait for fn. Both errors also match fn's error.
//
// If fn did not run, the error is that of [Mutex.Lock]. fn may pass its context to Do or Lock of the same name: they
// then run under the same lease.
func (m *Mutex) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	lease, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	return m.client.run(ctx, lease, fn)
}

// TryDo does the same as [Mutex.Do], but takes the lock only if nobody has it. If fn did not run, the error is that of
// [Mutex.TryLock]: it matches [ErrHeld] if somebody has the lock.
func (m *Mutex) TryDo(ctx context.Context, fn func(ctx context.Context) error) error {
	lease, err := m.TryLock(ctx)
	if err != nil {
		return err
	}
	return m.client.run(ctx, lease, fn)
}

// Lock waits until it has the lock, and returns the lease. The client renews the lease until [Lease.Unlock].
//
// ctx bounds the wait, not the lease. The lease's context has the values of ctx. If ctx ends first, the error matches
// ctx's Err and cause, and ErrHeld or ErrUnavailable, as the last attempt found.
//
// Lock gives up with an error that matches ErrUnavailable if no quorum answers for a second. After Lock has found that
// somebody has the lock, it gives up after the lock's TTL instead, if that is longer. The decision may take one or two
// [Config.NodeTimeout] more. If several goroutines wait for one name, each gets this error after that time, also if it
// is not the first in line. Lock waits for the end of quarantines of restarted nodes. With [WaitThroughOutages] it also
// waits for the end of outages.
//
// The error matches [ErrBadName] for a bad name, and [ErrBadTTL] for a bad TTL.
//
// ctx may be the context of a lease of this lock and this client, or may be made from it. Then Lock returns a handle of
// that lease at once, and asks no node. Each context has at most one handle at a time. Another call with the same
// context waits, in this process, until that handle and all handles made from it are released. If the lease has ended,
// the error is the cause of its end: it matches [ErrLost] or [ErrReleased]. A longer TTL of m applies to the lease
// while the handle is in use. With [Reentrant](false) the error matches [ErrReentrant] instead.
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) {
	if l := m.mine(ctx); l != nil {
		return m.under(ctx, l, true, false)
	}
	if err := m.begin(ctx); err != nil {
		return nil, m.prefix(err)
	}
	defer m.client.taking.Done()
	began := m.begins()
	g, r := m.client.locker.WaitFor(ctx, m.want(m.kind()))
	return m.lease(ctx, began, g, r)
}

// want returns the wish of a call that waits.
func (m *Mutex) want(k kind.Kind) waiting.Want {
	want := waiting.Want{Lock: k, TTL: m.ttl, Through: m.through}
	if m.listens() {
		want.Told = func(r *waiting.Refusal) { m.tell(m.prefix(m.refused(r))) }
	}
	return want
}

// TryLock takes the lock if nobody has it. If somebody has it, the error matches [ErrHeld] and is a [*HeldError]. If
// too few nodes answered, the error matches [ErrUnavailable] and is an [*UnavailableError]. If several clients try at
// the same instant, one of them gets the lock: TryLock repeats a split vote for a moment.
//
// With the context of a lease of this lock TryLock returns a handle of that lease, as [Mutex.Lock] does. If another
// goroutine has the handle of this context, the error matches ErrHeld.
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) {
	if l := m.mine(ctx); l != nil {
		return m.under(ctx, l, false, false)
	}
	if err := m.begin(ctx); err != nil {
		return nil, m.prefix(err)
	}
	defer m.client.taking.Done()
	began := m.begins()
	g, r := m.client.locker.Try(ctx, m.kind(), m.ttl)
	return m.lease(ctx, began, g, r)
}

// mine returns the innermost lease of this lock among the leases of ctx, or nil. ctx may have leases of other locks in
// between. The same name of another client does not count, because it may be on other nodes. For example, a program
// that moves from one node set to another holds both.
func (m *Mutex) mine(ctx context.Context) *Lease {
	for l, ok := FromContext(ctx); ok; l, ok = FromContext(l.outer()) {
		if l.client == m.client && l.held.Kind().Line() == m.kind().Line() {
			return l
		}
	}
	return nil
}

// under returns a handle of a lease to which the caller's context belongs. wait says that the call may wait for a
// handle of another goroutine. shared says that the handle is a reader's.
func (m *Mutex) under(ctx context.Context, l *Lease, wait, shared bool) (*Lease, error) {
	if m.never {
		return nil, m.prefix(fmt.Errorf("%s %q: %w", m.noun(), m.name, ErrReentrant))
	}
	if err := m.begin(ctx); err != nil {
		return nil, m.prefix(err)
	}
	defer m.client.taking.Done()
	over := func(err error) error {
		return m.prefix(fmt.Errorf("%s %q under its own lease: %w", m.noun(), m.name, err))
	}
	h, err := l.take(ctx, m.ttl, nil, shared)
	if err != nil {
		return nil, over(err)
	}
	if h != nil {
		return h, nil
	}
	own := holderOf(l.Owner(), false)
	own.Own = true
	held := &HeldError{
		Name: m.name, Slots: m.k(), ExpiresIn: max(time.Until(l.Deadline()), 0), Holders: []Holder{own},
	}
	if !wait {
		return nil, m.prefix(held)
	}
	if m.listens() {
		m.tell(m.prefix(held))
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

// listens reports whether any listener wants to know that a wait goes on.
func (m *Mutex) listens() bool { return m.waiting != nil || m.client.events.Wanted(events.Waiting) }

// tell informs the listeners that a wait goes on, with the reason why.
func (m *Mutex) tell(why error) {
	e := &events.Event{Kind: events.Waiting, Name: m.lock.Name(), Err: why}
	m.client.events.Emit(e)
	if m.waiting != nil {
		m.waiting(e)
	}
}

// begin begins a call. If it returns nil, the call must end with taking.Done.
func (m *Mutex) begin(ctx context.Context) error {
	switch {
	case m.bad != nil:
		return m.bad
	case ctx.Err() != nil && !m.client.closed.Load():
		return fmt.Errorf("%s %q: %w", m.noun(), m.name, ending.Cause(ctx))
	case !m.client.enter():
		return fmt.Errorf("%s %q: %w", m.noun(), m.name, ErrClosed)
	}
	return nil
}

// begins returns the present instant if a listener wants to know how long the lock took. Otherwise it returns 0,
// because a free lock takes so little time that reading the clock would matter.
func (m *Mutex) begins() clock.Instant {
	if m.client.events.Wanted(events.Acquired) {
		return m.client.fan.Now()
	}
	return 0
}

func (m *Mutex) prefix(err error) error { return fmt.Errorf("holdfast: %w", err) }

func (m *Mutex) lease(ctx context.Context, began clock.Instant, g waiting.Grant, r *waiting.Refusal) (*Lease, error) {
	switch {
	case r == nil:
		var l *Lease
		if g.Share == nil {
			l = newLease(ctx, m, g)
		} else {
			l = g.Share.(*share).enter(ctx, m)
		}
		if g.Owner != "" && m.client.events.Wanted(events.Acquired) {
			m.client.events.Emit(&events.Event{
				Kind: events.Acquired, Name: m.lock.Name(), Owner: g.Owner, Token: g.Token, Took: m.client.fan.Now().Sub(began),
			})
		}
		if m.client.closed.Load() && l.held.End() != nil { // Close did not wait for this call
			return nil, m.prefix(fmt.Errorf("%s %q: %w", m.noun(), m.name, ErrClosed))
		}
		return l, nil
	case ctx.Err() != nil:
		return nil, m.prefix(ended(ctx, m.refused(r)))
	case m.client.closed.Load():
		return nil, m.prefix(fmt.Errorf("%s %q: %w", m.noun(), m.name, ErrClosed))
	}
	return nil, m.prefix(m.refused(r))
}

// refused returns the public error for a refusal.
func (m *Mutex) refused(r *waiting.Refusal) error {
	nodes := m.client.answers(m.record, r.Answers, r.Err)
	if r.Kind == waiting.Unavailable {
		return m.client.unavailable(m.name, m.k(), nodes)
	}
	owner, foreign, left := r.Holder()
	if left == nodescript.Forever {
		left = -1
	} else {
		left = max(left-r.Age(m.client.fan.Now()), 0)
	}
	e := &HeldError{Name: m.name, Slots: m.k(), ExpiresIn: left, Place: r.Rank() + 1, Nodes: nodes}
	if owner != "" || foreign {
		owners := []string{owner}
		if n := r.Readers(); n != nil {
			e.Readers, owners = n.Readers, n.Owners
		}
		for _, owner := range owners {
			h := holderOf(owner, foreign)
			h.Own = nodescript.ClientOf(owner) == m.client.id
			e.Holders = append(e.Holders, h)
		}
	}
	return e
}
