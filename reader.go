package holdfast

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
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
	if ctx == nil {
		return nil, m.without("RLock", "Context")
	}
	if l := m.leaseIn(ctx); l != nil {
		return m.under(ctx, l, true, true)
	}
	k := nodescript.NewShared(m.lock.Lock())
	return m.shares(ctx, true, func() (waiting.Grant, *waiting.Refusal) {
		want := m.want(k)
		want.Open = m.newShare(k)
		return waited(m.client.locker.WaitFor(ctx, want))
	})
}

// TryRLock takes the lock shared if no writer has it or waits for it. Otherwise the error matches [ErrHeld].
// Everything else is as for [Mutex.TryLock].
func (m *Mutex) TryRLock(ctx context.Context) (*Lease, error) {
	if ctx == nil {
		return nil, m.without("TryRLock", "Context")
	}
	if l := m.leaseIn(ctx); l != nil {
		return m.under(ctx, l, false, true)
	}
	k := nodescript.NewShared(m.lock.Lock())
	return m.shares(ctx, false, func() (waiting.Grant, *waiting.Refusal) {
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
	if err := m.runnable("RDo", ctx, fn); err != nil {
		return err
	}
	lease, err := m.RLock(ctx)
	if err != nil {
		return err
	}
	return m.client.run(ctx, lease, fn)
}

// TryRDo does the same as [Mutex.RDo], but only if no writer has the lock or waits for it: see [Mutex.TryRLock].
func (m *Mutex) TryRDo(ctx context.Context, fn func(ctx context.Context) error) error {
	if err := m.runnable("TryRDo", ctx, fn); err != nil {
		return err
	}
	lease, err := m.TryRLock(ctx)
	if err != nil {
		return err
	}
	return m.client.run(ctx, lease, fn)
}

// shares returns the lease of a reader. take gets a new grant, or finds a share that the reader can join. If that
// share has just ended, shares calls take again. wait is true for RLock.
func (m *Mutex) shares(ctx context.Context, wait bool, take func() (waiting.Grant, *waiting.Refusal)) (*Lease, error) {
	if err := m.begin(ctx, wait); err != nil {
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

// share is one lease that all readers of a name in this client use together. Each reader has its own handle below
// root. The last reader releases the lease. The mu of root guards who joins and who is the last one.
type share struct {
	held *renewal.Lease
	root handle // the parent of the readers' handles; no caller has it, so its field ended is true from the start
}

// newShare returns a function that makes a share from a grant.
func (m *Mutex) newShare(k nodescript.Kind) func(waiting.Grant) waiting.Share {
	return func(g waiting.Grant) waiting.Share {
		// The lease gets an empty context, because each reader has its own context values.
		s := &share{held: m.client.keeper.Keep(context.Background(), k, g.Won, m.ttl, nil)}
		if m.hold > 0 {
			s.held.Limit(m.hold)
		}
		s.root = handle{first: &s.root, ended: true, shared: true, readers: 1, rest: &none}
		return s
	}
}

// Reserve reserves handles for n more readers, which call enter later. Without it the share could end before they
// come. It implements [waiting.Share].
func (s *share) Reserve(n int) {
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	s.root.readers += n
}

// join reserves a handle for one reader. It returns false if the last reader has left or the lease has ended.
func (s *share) join() bool {
	over := s.held.End() != nil
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	if over || s.root.readers == 0 {
		return false
	}
	s.root.readers++
	return true
}

// enter returns the handle that was reserved for a reader.
func (s *share) enter(ctx context.Context, m *Mutex) *Lease {
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	h := &handle{
		first: &s.root, above: &s.root, ttl: m.ttl, reader: true, shared: true, values: context.WithoutCancel(ctx), rest: &none,
	}
	s.root.counts(m.ttl, 1)
	s.held.SetTTL(s.root.longest())
	s.held.Prolong(m.hold)
	return m.client.newHandle(m.name, s.held, s, h)
}

// errOthers is the error of a downgrade while another exclusive handle of the same lease is in use.
var errOthers = errors.New("another exclusive handle of this lease is in use")

// Downgrade makes an exclusive lease a shared one. No other writer can get the lock in between. Readers that wait may
// get the lock from now on. The lease keeps its context. It gets another owner and a larger token.
//
// The caller must not write any more from the call of Downgrade on, even if Downgrade fails: the first node that has
// changed the lease lets readers in. A shared lease cannot become exclusive again: see [ErrUpgrade].
//
// If the lease is already shared, Downgrade only waits for a downgrade that is under way. Downgrade fails and changes
// nothing in two cases: the lease is a slot of a semaphore, or another exclusive handle of the lease is in use.
//
// The error matches [ErrLost] or [ErrReleased] if the lease ended before a majority of the nodes had changed it. If
// ctx ends first, the error matches ctx's Err and cause. The client then continues the downgrade in the background,
// and the lease stays valid until its deadline.
func (l *Lease) Downgrade(ctx context.Context) error {
	if ctx == nil {
		return withoutContext("downgrade", strconv.Quote(l.name))
	}
	err := l.downgrade()
	if err == nil {
		err = l.held.AwaitDowngrade(ctx)
	}
	return l.wrap(ctx, "downgrade", err)
}

// downgrade makes the handle a shared one, and begins to change the lease on the nodes if it is exclusive. Both happen
// under one lock. Otherwise a second caller could see a shared handle, and find no downgrade to wait for.
func (l *Lease) downgrade() error {
	if err := l.held.End(); err != nil {
		return err
	}
	f := l.first
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case l.ended:
		return ErrReleased
	case l.shared:
		return nil
	case l.Slot() >= 0:
		return fmt.Errorf("a slot of a semaphore cannot be shared")
	}
	for h := f; h != nil; h = h.below {
		if h != l.handle && !h.ended && !h.shared {
			return errOthers
		}
	}
	l.shared = true
	l.next() // exclusive calls that wait for a handle now fail, and readers get theirs
	lock, exclusive := l.held.Kind().(*nodescript.Exclusive)
	if !exclusive {
		return nil
	}
	return l.held.Downgrade(nodescript.NewShared(lock.Lock()), l.client.newOwner(lock.Name()))
}
