package setnx

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/internal/client"
	"github.com/holdfast-go/holdfast/compat/internal/holding"
	"github.com/holdfast-go/holdfast/internal/core/ending"
)

// Mutex is a name that can be locked. It has no state: a program may make a new one for every use, and many goroutines
// may use one.
type Mutex struct {
	client *Client
	name   string
}

// Mutex returns the lock of a name.
func (c *Client) Mutex(name string) *Mutex { return &Mutex{client: c, name: name} }

// Name returns the name as the caller gave it, before [Config.MapName].
func (m *Mutex) Name() string { return m.name }

// Lock waits until it has the lock, and returns the lease. The client renews the lease until [Lease.Unlock].
//
// ctx bounds the wait, not the lease. If ctx ends first, the error matches ctx's Err and cause, and [holdfast.ErrHeld]
// or [holdfast.ErrUnavailable], by the result of the last try.
//
// Lock gives up with an error that matches ErrUnavailable if the server does not answer for a second. After it has
// found that somebody has the lock, it gives up after the TTL instead, if that is longer. The error matches
// [ErrForeign] if the key is no lock of this pattern, [holdfast.ErrBadName] for a bad name, and [holdfast.ErrReentrant]
// if ctx belongs to a lease of this lock.
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) { return m.take(ctx, true) }

// TryLock takes the lock if nobody has it. Otherwise the error matches [holdfast.ErrHeld], and nothing on the server
// has changed. The other errors are those of [Mutex.Lock].
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) { return m.take(ctx, false) }

func (m *Mutex) take(ctx context.Context, wait bool) (*Lease, error) {
	l, err := m.begin(ctx, wait)
	if err != nil {
		return nil, fmt.Errorf("setnx: %w", err)
	}
	return l, nil
}

func (m *Mutex) begin(ctx context.Context, wait bool) (*Lease, error) {
	if ctx == nil {
		return nil, fmt.Errorf("lock %q: nil Context", m.name)
	}
	c := m.client
	key, err := client.Key(m.name, c.config.MapName)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ending.Cause(ctx)
	}
	for outer, ok := FromContext(ctx); ok; outer, ok = FromContext(outer.values) {
		if outer.client == c && outer.key == key && outer.ctx.Err() == nil {
			return nil, fmt.Errorf("lock %q: %w", m.name, holdfast.ErrReentrant)
		}
	}
	if c.tasks.Closed() {
		return nil, holdfast.ErrClosed
	}
	if wait {
		return c.wait(ctx, m.name, key)
	}
	return c.bid(ctx, m.name, key)
}

// Do waits for the lock, runs fn while it holds the lock, and releases it. fn's context ends when ctx ends. It also
// ends when the lock is lost; fn must then stop writing. If the lock is lost because its deadline passed, fn's context
// ends before another client can get the lock.
//
// Do returns fn's error. If the lock was lost while fn ran, the error also matches [holdfast.ErrLost]. If
// [Client.Close] released it, the error also matches [holdfast.ErrClosed]. If fn did not run, the error is that of
// [Mutex.Lock].
func (m *Mutex) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	return m.run(ctx, true, fn)
}

// TryDo does the same as [Mutex.Do], but takes the lock only if nobody has it.
func (m *Mutex) TryDo(ctx context.Context, fn func(ctx context.Context) error) error {
	return m.run(ctx, false, fn)
}

func (m *Mutex) run(ctx context.Context, wait bool, fn func(ctx context.Context) error) error {
	if fn == nil {
		return fmt.Errorf("setnx: lock %q: nil function", m.name)
	}
	l, err := m.take(ctx, wait)
	if err != nil {
		return err
	}
	return holding.Do(ctx, "setnx", l, l.holding.End, fn)
}
