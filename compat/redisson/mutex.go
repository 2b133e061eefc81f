package redisson

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/internal/client"
	"github.com/holdfast-go/holdfast/compat/internal/holding"
	"github.com/holdfast-go/holdfast/internal/core/ending"
)

// Mutex is a name that can be locked. It has no state of its own. So a program may make a new Mutex for every use,
// and many goroutines may use one Mutex.
type Mutex struct {
	client *Client
	name   string
}

// Mutex returns the lock with this name. In Java, redissonClient.getLock(name) and getReadWriteLock(name) return the
// same lock: Lock excludes all their holders, and RLock shares the lock with the holders of
// getReadWriteLock(name).readLock().
func (c *Client) Mutex(name string) *Mutex { return &Mutex{client: c, name: name} }

// Name returns the name as the caller gave it, before [Config.MapName].
func (m *Mutex) Name() string { return m.name }

// Lock waits until it has the lock, and returns the lease. The client renews the lease until [Lease.Unlock].
//
// ctx limits the wait, and not the lease. If ctx ends first, the error matches ctx's Err and cause. It also matches
// [holdfast.ErrHeld] or [holdfast.ErrUnavailable], by the result of the last attempt. The ended attempt leaves no
// lock behind.
//
// If no majority of the nodes answers for a second, Lock gives up with an error that matches ErrUnavailable. If Lock
// has already found that somebody has the lock, it waits for the TTL instead of a second, if that is longer. The
// error matches [ErrWrongKind] if the key is not a hash, and [holdfast.ErrBadName] for a bad name.
//
// ctx may belong to a lease of this client with the same key: see [Config.MapName]. Then Lock returns a handle of that
// lease, and raises the reentrant count on the nodes. Each context has at most one handle at a time. A second call with
// the same context waits until the first handle, and all handles made from it, are released. If the lease has ended,
// the error is the cause of its end. If the lease is a reader's, the error matches [holdfast.ErrUpgrade].
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) { return m.take(ctx, want{}, true) }

// TryLock takes the lock if nobody has it. Otherwise the error matches [holdfast.ErrHeld], and the nodes are not
// changed. The other errors and the handles are as for [Mutex.Lock].
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) { return m.take(ctx, want{}, false) }

func (m *Mutex) take(ctx context.Context, w want, wait bool) (*Lease, error) {
	l, err := m.begin(ctx, w, wait)
	if err != nil {
		return nil, fmt.Errorf("redisson: %w", err)
	}
	return l, nil
}

func (m *Mutex) begin(ctx context.Context, w want, wait bool) (*Lease, error) {
	if ctx == nil {
		return nil, fmt.Errorf("lock %q: nil Context", m.name)
	}
	c := m.client
	key, err := client.Key(m.name, c.config.MapName)
	if err != nil {
		return nil, err
	}
	w.name, w.key = m.name, key
	if err := ctx.Err(); err != nil {
		return nil, ending.Cause(ctx)
	}
	for outer, ok := FromContext(ctx); ok; outer, ok = FromContext(outer.values) {
		if outer.hold.client == c && outer.hold.key == key {
			if outer.hold.shared && !w.shared {
				return nil, holdfast.ErrUpgrade
			}
			return outer.nested(ctx, m.name, wait)
		}
	}
	if c.tasks.Closed() {
		return nil, holdfast.ErrClosed
	}
	get := c.bid
	if wait {
		get = c.wait
	}
	h, err := get(ctx, w)
	if err != nil {
		return nil, err
	}
	return h.newLease(ctx, m.name, nil)
}

// Do waits for the lock, runs fn while it holds the lock, and then releases the lock. fn's context ends when ctx
// ends. It also ends when the lock is lost; fn must then stop writing. If the lock is lost because its
// deadline passed, fn's context ends before another client can get the lock.
//
// Do returns fn's error. If the lock was lost while fn ran, the error also matches [holdfast.ErrLost]. If
// [Client.Close] released the lock, the error also matches [holdfast.ErrClosed]. If fn did not run, the error is that
// of [Mutex.Lock].
func (m *Mutex) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	return m.run(ctx, want{}, true, fn)
}

// TryDo does the same as [Mutex.Do], but does not wait.
func (m *Mutex) TryDo(ctx context.Context, fn func(ctx context.Context) error) error {
	return m.run(ctx, want{}, false, fn)
}

func (m *Mutex) run(ctx context.Context, w want, wait bool, fn func(ctx context.Context) error) error {
	if fn == nil {
		return fmt.Errorf("redisson: lock %q: nil function", m.name)
	}
	l, err := m.take(ctx, w, wait)
	if err != nil {
		return err
	}
	return holding.Do(ctx, "redisson", l, l.hold.End, fn)
}
