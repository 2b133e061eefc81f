package interop

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
)

// taker is a kind of lock of Holdfast.
type taker interface {
	Lock(ctx context.Context) (*holdfast.Lease, error)
	TryLock(ctx context.Context) (*holdfast.Lease, error)
}

type reads struct{ *holdfast.Mutex }

func (r reads) Lock(ctx context.Context) (*holdfast.Lease, error)    { return r.RLock(ctx) }
func (r reads) TryLock(ctx context.Context) (*holdfast.Lease, error) { return r.TryRLock(ctx) }

type permits struct{ *holdfast.Semaphore }

func (p permits) Lock(ctx context.Context) (*holdfast.Lease, error)    { return p.Acquire(ctx) }
func (p permits) TryLock(ctx context.Context) (*holdfast.Lease, error) { return p.TryAcquire(ctx) }

// watcher is a locker that knows whether a lock was lost.
type watcher interface {
	lost(name string) time.Time // zero: it was not
}

// modes is Holdfast as a peer of a shared lock.
type modes struct {
	client *holdfast.Client
	of     func(c *holdfast.Client, name string) taker

	mu   sync.Mutex
	ends map[string]time.Time
}

func newMode(of func(c *holdfast.Client, name string) taker) func(addrs []string, ttl time.Duration) (locker, error) {
	return func(addrs []string, ttl time.Duration) (locker, error) {
		c, err := ourClient(addrs, ttl, 0)
		return &modes{client: c, of: of, ends: map[string]time.Time{}}, err
	}
}

func (m *modes) try(name string) (func() error, error) {
	l, err := m.of(m.client, name).TryLock(context.Background())
	if errors.Is(err, holdfast.ErrHeld) {
		return nil, errRefused
	}
	return m.watch(name, l, err)
}

func (m *modes) lock(name string) (func() error, error) {
	l, err := m.of(m.client, name).Lock(context.Background())
	return m.watch(name, l, err)
}

// watch notes when the lease is lost.
func (m *modes) watch(name string, l *holdfast.Lease, err error) (func() error, error) {
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	delete(m.ends, name)
	m.mu.Unlock()
	given := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-given:
		case <-l.Context().Done():
			m.mu.Lock()
			defer m.mu.Unlock()
			m.ends[name] = time.Now()
		}
	}()
	return func() error {
		close(given)
		<-watched
		return l.Unlock(context.Background())
	}, nil
}

func (m *modes) lost(name string) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ends[name]
}
