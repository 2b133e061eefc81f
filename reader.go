package holdfast

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/core/kind"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
)

// RLock waits until it has the lock shared, and returns the lease. Any number of readers have the lock together. A
// reader and a writer (a caller of [Mutex.Lock]) exclude each other. RLock and Lock of one name form one queue: a
// reader waits for the writers that came before it. The options and errors are those of Lock.
//
// The readers of one client share one lease. The first of them asks the nodes, and all readers of the client that
// wait at that moment join it. Later readers join for up to one [Config.Window], and only while the client knows of
// no waiter. Each reader has its own handle, with its own context and Unlock. The last Unlock releases the lease on
// the nodes. All handles have the same token: see [Lease.Fence]. [Lease.Extend] and [Lease.UnlockAt] work as with
// other handles.
//
// If ctx belongs to a lease of this lock from this client, RLock returns a handle of that lease at once. That lease
// may be shared or exclusive, and a writer may wait for the lock. Readers under one lease do not wait for each other.
// But [Mutex.Lock] with the context of a reader fails: the error matches [ErrUpgrade].
func (m *Mutex) RLock(ctx context.Context) (*Lease, error) {
	if l := m.leaseIn(ctx); l != nil {
		return m.under(ctx, l, true, true)
	}
	k := kind.NewShared(m.lock.Lock())
	return m.shares(ctx, func() (waiting.Grant, *waiting.Refusal) {
		want := m.want(k)
		want.Open = m.newShare(k)
		return m.client.locker.WaitFor(ctx, want)
	})
}

// TryRLock takes the lock shared if no writer has it or waits for it. Otherwise the error matches [ErrHeld].
// Everything else is as for [Mutex.TryLock].
func (m *Mutex) TryRLock(ctx context.Context) (*Lease, error) {
	if l := m.leaseIn(ctx); l != nil {
		return m.under(ctx, l, false, true)
	}
	k := kind.NewShared(m.lock.Lock())
	return m.shares(ctx, func() (waiting.Grant, *waiting.Refusal) {
		if s := m.client.locker.Joinable(k.Line()); s != nil {
			return waiting.Grant{Share: s, Late: true}, nil
		}
		g, r := m.client.locker.Try(ctx, k, m.ttl)
		if r == nil {
			g.Share = m.newShare(k)(g)
			m.client.locker.Opened(k.Line(), g.Share, g)
		}
		return g, r
	})
}

// RDo waits for the shared lock, runs fn while it holds the lock, and then releases it: see [Mutex.Do].
func (m *Mutex) RDo(ctx context.Context, fn func(ctx context.Context) error) error {
	lease, err := m.RLock(ctx)
	if err != nil {
		return err
	}
	return m.client.run(ctx, lease, fn)
}

// TryRDo does the same as [Mutex.RDo], but only if no writer has the lock or waits for it: see [Mutex.TryRLock].
func (m *Mutex) TryRDo(ctx context.Context, fn func(ctx context.Context) error) error {
	lease, err := m.TryRLock(ctx)
	if err != nil {
		return err
	}
	return m.client.run(ctx, lease, fn)
}

// shares returns the lease of a reader. take gets a new grant, or finds a share that the reader can join. If that
// share has just ended, shares calls take again.
func (m *Mutex) shares(ctx context.Context, take func() (waiting.Grant, *waiting.Refusal)) (*Lease, error) {
	if err := m.begin(ctx); err != nil {
		return nil, m.prefix(err)
	}
	defer m.client.taking.Done()
	for {
		began := m.startTime()
		g, r := take()
		if r != nil || !g.Late || g.Share.(*share).join() {
			return m.lease(ctx, began, g, r)
		}
		m.client.locker.Closed(m.lock.Line(), g.Share)
	}
}

// Shared reports whether this handle is a reader's: [Mutex.RLock] took it, or [Lease.Downgrade] changed it.
func (l *Lease) Shared() bool {
	l.first.mu.Lock()
	defer l.first.mu.Unlock()
	return l.shared
}
