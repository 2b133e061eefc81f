package holdfast

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/waiting"
)

// Mutex is a name to be locked. It holds no state of its own: it may be made anew for
// every use, and used by many goroutines.
type Mutex struct {
	client  *Client
	name    string
	lock    nodescript.Lock
	ttl     time.Duration
	onWait  func(error)
	through bool  // waits through outages
	bad     error // why it cannot be locked
}

// Name is the name as it was given, without [Config.Prefix].
func (m *Mutex) Name() string { return m.name }

// Do waits for the lock, runs fn while holding it, and gives it back. It is the way
// to use a lock: nothing can be forgotten.
//
// fn's context ends when ctx does, and before the lock can be somebody else's if it is
// lost; fn must then stop writing. [FromContext] gives fn the lease, for its token.
//
// Do returns fn's error. If the lock was lost while fn ran the error matches
// [ErrLost], also if fn returned nil: what fn did last may have overlapped with the
// next holder. If [Client.Close], which does not wait for fn, gave the lock back while fn
// ran, it matches [ErrClosed] for the same reason. Either matches fn's error, too. If fn
// was not run the error is that of [Mutex.Lock]: one that matches [ErrReentrant] where fn's
// context, of this lock, comes back to Do or Lock of the same name.
func (m *Mutex) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	lease, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	return m.under(ctx, lease, fn)
}

// TryDo is [Mutex.Do] for a lock that is to be taken only if nobody has it: fn was not run
// if the error is that of [Mutex.TryLock], which matches [ErrHeld] if somebody does.
func (m *Mutex) TryDo(ctx context.Context, fn func(ctx context.Context) error) error {
	lease, err := m.TryLock(ctx)
	if err != nil {
		return err
	}
	return m.under(ctx, lease, fn)
}

// under runs fn under a lease, and gives that back.
func (m *Mutex) under(ctx context.Context, lease *Lease, fn func(ctx context.Context) error) (err error) {
	work, cancel := context.WithCancelCause(lease.Context())
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	// Deferred, so that a panic in fn gives the lock back too.
	defer func() {
		// ctx may be dead, and the lock is to be given back all the same.
		bounded, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*m.client.config.NodeTimeout)
		defer stop()
		byFn := lease.unlocked.Load()
		switch e := lease.Unlock(bounded); {
		case errors.Is(e, ErrLost) && !errors.Is(err, ErrLost):
			err = besides(e, err)
		case errors.Is(e, ErrReleased) && !byFn:
			err = besides(fmt.Errorf("holdfast: lock %q: given back by Close while its work ran: %w", m.name, ErrClosed), err)
		case errors.Is(e, ErrUnavailable), errors.Is(e, context.DeadlineExceeded):
			// fn has done its work under the lock; that the name stays taken until its
			// TTL is over is not its failure.
			m.client.config.Logger.Warn("lock not given back on a majority; it ends with its TTL", "name", m.name)
		}
	}()
	return fn(work)
}

// besides is fact and, in the same line, what the work under the lock returned.
func besides(fact, work error) error {
	if work == nil {
		return fact
	}
	return fmt.Errorf("%w; the work returned: %w", fact, work)
}

// Lock waits until it has the lock, and returns the lease: renewed automatically until
// [Lease.Unlock].
//
// ctx bounds the wait, not the lease; its values are those of the lease's context. If
// ctx ends first the error matches its Err and its cause, and [ErrHeld] or
// [ErrUnavailable] as the last attempt found. Lock returns an error that matches
// ErrUnavailable by itself if no quorum could be had for a second, or, once it found that
// somebody has the lock, for the lock's TTL if that is longer; it may take another
// [Config.NodeTimeout] or two until that is certain. Of several goroutines that wait for one
// name each is told after that time, whoever of them is the first in line. Quarantines of
// restarted nodes are waited for, and outages with [WaitThroughOutages]. A bad name matches
// [ErrBadName], and a bad TTL [ErrBadTTL].
//
// If ctx is the context of a lease of this very lock, of this client, that is still held, or made from it,
// Lock would wait for its own caller: it returns an error that matches [ErrReentrant] at once.
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) {
	if m.mine(ctx) {
		return nil, m.prefix(fmt.Errorf("lock %q: %w", m.name, ErrReentrant))
	}
	if err := m.begin(ctx); err != nil {
		return nil, m.prefix(err)
	}
	defer m.client.taking.Done()
	after := func(r *waiting.Refusal) {
		if m.onWait != nil {
			m.onWait(m.prefix(m.refused(r)))
		}
	}
	g, r := m.client.locker.WaitFor(ctx, waiting.Want{Lock: m.lock, TTL: m.ttl, Through: m.through, Told: after})
	return m.lease(ctx, g, r)
}

// TryLock takes the lock if nobody has it. If somebody does the error matches
// [ErrHeld] and is a [*HeldError]; if too few nodes answered it matches
// [ErrUnavailable] and is an [*UnavailableError]. Of several clients that try at the
// same instant one gets it: votes split between them are retried for a moment.
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) {
	if err := m.begin(ctx); err != nil {
		return nil, m.prefix(err)
	}
	defer m.client.taking.Done()
	g, r := m.client.locker.Try(ctx, m.lock, m.ttl)
	return m.lease(ctx, g, r)
}

// mine reports whether ctx is that of a lease of this lock, or made from it, also with leases of others in between. The
// same name of another client may be on other nodes: who moves from one node set to another holds both.
func (m *Mutex) mine(ctx context.Context) bool {
	for l, ok := FromContext(ctx); ok; l, ok = FromContext(l.held.Context()) {
		if l.client == m.client && l.name == m.name && l.held.End() == nil {
			return true
		}
	}
	return false
}

// begin begins a call; if it returns nil the call must end with taking.Done.
func (m *Mutex) begin(ctx context.Context) error {
	switch {
	case m.bad != nil:
		return m.bad
	case ctx.Err() != nil && !m.client.closed.Load():
		return fmt.Errorf("lock %q: %w", m.name, causeOf(ctx))
	case !m.client.enter():
		return fmt.Errorf("lock %q: %w", m.name, ErrClosed)
	}
	return nil
}

func (m *Mutex) prefix(err error) error { return fmt.Errorf("holdfast: %w", err) }

func (m *Mutex) lease(ctx context.Context, g waiting.Grant, r *waiting.Refusal) (*Lease, error) {
	switch {
	case r == nil:
		l := newLease(ctx, m, g)
		if m.client.closed.Load() && l.held.End() != nil { // Close did not wait for it any more
			return nil, m.prefix(fmt.Errorf("lock %q: %w", m.name, ErrClosed))
		}
		return l, nil
	case ctx.Err() != nil:
		return nil, m.prefix(ended(ctx, m.refused(r)))
	case m.client.closed.Load():
		return nil, m.prefix(fmt.Errorf("lock %q: %w", m.name, ErrClosed))
	}
	return nil, m.prefix(m.refused(r))
}

// refused makes the public error of a refusal.
func (m *Mutex) refused(r *waiting.Refusal) error {
	nodes := m.client.answers(m.lock.Name, r.Answers, r.Err)
	if r.Kind == waiting.Unavailable {
		return m.client.unavailable(m.name, nodes)
	}
	owner, foreign, left := r.Holder()
	if left == nodescript.Forever {
		left = -1
	} else {
		left = max(left-r.Age(m.client.fan.Now()), 0)
	}
	return &HeldError{
		Name: m.name, Owner: owner, Foreign: foreign, Left: !foreign && nodescript.HasLeft(owner), ExpiresIn: left, Place: r.Rank() + 1, Nodes: nodes,
	}
}
