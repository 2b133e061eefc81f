package redisson

import "context"

// RLock waits until it has the lock as a reader, and returns the lease. In Java,
// redissonClient.getReadWriteLock(name).readLock() is the same lock. Readers of Go and Java have the lock together. A
// reader excludes every other holder: [Mutex.Lock], the write lock of RReadWriteLock, RLock and its kin.
//
// The errors and handles are those of [Mutex.Lock]. If ctx belongs to a lease of this lock, RLock returns a handle of
// that lease, which may be exclusive. A reader has no fencing token: [Lease.Fence] returns 0.
//
// Readers that come again and again shut writers out, as in Java: a reader does not wait behind the writers of other
// clients. The goroutines of one client wait in one line, so a reader waits behind a writer of its own client.
func (m *Mutex) RLock(ctx context.Context) (*Lease, error) {
	return m.take(ctx, want{shared: true}, true)
}

// TryRLock takes the lock as a reader if nobody has it, or only readers. Otherwise the error matches
// [holdfast.ErrHeld].
func (m *Mutex) TryRLock(ctx context.Context) (*Lease, error) {
	return m.take(ctx, want{shared: true}, false)
}

// RDo waits for the lock as a reader, runs fn while it holds the lock, and then releases the lock: see [Mutex.Do].
func (m *Mutex) RDo(ctx context.Context, fn func(ctx context.Context) error) error {
	return m.run(ctx, want{shared: true}, true, fn)
}

// TryRDo does the same as [Mutex.RDo], but does not wait.
func (m *Mutex) TryRDo(ctx context.Context, fn func(ctx context.Context) error) error {
	return m.run(ctx, want{shared: true}, false, fn)
}

// Shared reports whether the lease is a reader's: [Mutex.RLock] took it.
func (l *Lease) Shared() bool { return l.hold.shared }
