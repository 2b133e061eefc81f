package holdfast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/kind"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
)

// mostNames is the largest number of names that one call locks together. The questions for so many names fit into one
// pipeline to each node: see largestBatch in package fanout. More names would keep a node busy for too long, and the
// last stamps of the call could leave the window before a node reads them.
const mostNames = 256

// LockAll waits until it has the locks of all names, and returns one [LeaseSet]. The order of the names does not matter,
// and a name may occur twice. The options apply to each lock.
//
// LockAll asks for all names at once: if all are free, that is one round trip. If a name is held, LockAll gives back
// the names that sort above it, and waits in line for that name. Then it takes the higher names one after the other, in
// sorted order. So two callers of LockAll cannot wait for each other for ever, whatever names they have in common.
//
// ctx bounds the call, but not the leases. [OnWait] receives the errors of the lock that LockAll waits for. If that
// lock fails, the error is that of its [Mutex.Lock], with its name. If LockAll loses another lock while it waits, the
// error matches [ErrLost]. After any error the call has no lock: it gives back what it has. Unless ctx has ended, it
// waits until a majority confirms that, for up to [Config.NodeTimeout].
//
// The error matches [ErrBadName] if there is no name, if there are more than 256 different names, or if one of them is a
// bad name.
//
// If ctx belongs to leases of this client, LockAll returns handles for the names that those leases hold: see
// [Mutex.Lock]. For the other names an order applies. If ctx belongs to a lease whose name sorts above a name that
// somebody holds, LockAll does not wait for that name, and the error matches [ErrOrder] and [ErrHeld]. Otherwise two
// callers, each with one lock, could wait for each other for ever. Names are compared byte by byte, with
// [Config.Prefix]. The rule covers leases of all clients in ctx. It does not cover [Mutex.Lock], which always waits.
func (c *Client) LockAll(ctx context.Context, names []string, opts ...Option) (*LeaseSet, error) {
	return c.all(ctx, names, opts, true)
}

// TryLockAll takes the locks of all names if nobody has any of them, in one round trip, or two for more than 64 names. Otherwise the error is that of
// [Mutex.TryLock], for the first name in sorted order that was not free, and the call has no lock.
//
// If several clients try at the same instant for the same names, one of them gets all on a single node. On several
// nodes their votes may split in each of a few tries, and then none gets them; that is rare. If their names only
// overlap, all of them may fail: each may meet a name that another call takes and gives back in that instant.
//
// The other errors and the handles for names that ctx holds are those of [Client.LockAll]. As TryLockAll does not wait,
// it never returns [ErrOrder].
func (c *Client) TryLockAll(ctx context.Context, names []string, opts ...Option) (*LeaseSet, error) {
	return c.all(ctx, names, opts, false)
}

// DoAll waits for the locks of all names as [Client.LockAll] does, runs fn while it holds them, and releases them.
//
// fn's context ends when ctx ends, and when the first of the locks is lost, before somebody else can get that lock.
// [LeaseSetFromContext] gives fn the leases, for their tokens. DoAll's errors are those of [Mutex.Do] and
// [Client.LockAll].
func (c *Client) DoAll(ctx context.Context, names []string, fn func(ctx context.Context) error, opts ...Option) error {
	s, err := c.LockAll(ctx, names, opts...)
	if err != nil {
		return err
	}
	return c.run(ctx, s, fn)
}

func (c *Client) all(ctx context.Context, names []string, opts []Option, wait bool) (*LeaseSet, error) {
	locks, err := c.locks(names, opts)
	if err != nil {
		return nil, fmt.Errorf("holdfast: %w", err)
	}
	s := newLeaseSet(c, locks)
	done := false
	defer func() { // also if OnWait panics
		if !done {
			s.abandon(ctx)
		}
	}()
	if err := s.take(ctx, locks, wait); err != nil {
		return nil, err
	}
	done = true
	s.enclose(ctx)
	return s, nil
}

// locks returns the locks of the names, sorted and without duplicates.
func (c *Client) locks(names []string, opts []Option) ([]*Mutex, error) {
	names = slices.Clone(names)
	slices.Sort(names)
	switch names = slices.Compact(names); {
	case len(names) == 0:
		return nil, badName{errors.New("there are no names to lock")}
	case len(names) > mostNames:
		return nil, badName{fmt.Errorf("%d names; at most %d can be locked together", len(names), mostNames)}
	}
	locks := make([]*Mutex, len(names))
	for i, name := range names {
		locks[i] = c.Mutex(name, opts...)
		if locks[i].bad != nil {
			return nil, locks[i].bad
		}
	}
	return locks, nil
}

// take takes all locks. After an error the set has some of the locks, and the caller abandons the set.
func (s *LeaseSet) take(ctx context.Context, locks []*Mutex, wait bool) error {
	err := s.tryAll(ctx, locks, wait)
	switch {
	case err == nil:
		return s.stillHeld(nil)
	case !wait, !errors.Is(err, ErrHeld) && !errors.Is(err, ErrUnavailable):
		return err
	}
	locks = locks[len(s.leases):] // the set has the locks before the refused one
	if ctx.Err() != nil {
		return locks[0].prefix(ended(ctx, err))
	}
	if above := locks[0].above(ctx); above != "" {
		return inOrder(err, above)
	}
	for _, m := range locks {
		if above := m.above(ctx); above != "" {
			l, err := m.TryLock(ctx)
			if err != nil {
				return inOrder(err, above)
			}
			s.add(l)
			continue
		}
		if err := s.await(ctx, m); err != nil {
			return err
		}
	}
	return s.stillHeld(nil)
}

// tryAll asks for all locks at once. It adds the locks that it got to the set. If wait is true and a lock is refused,
// it adds only the locks before that one.
func (s *LeaseSet) tryAll(ctx context.Context, locks []*Mutex, wait bool) error {
	if err := locks[0].begin(ctx); err != nil {
		return locks[0].prefix(err)
	}
	defer s.client.taking.Done()
	took := make([]*Lease, len(locks))
	asked, refused, err := s.handles(ctx, locks, took)
	if len(asked) > 0 && (err == nil || wait && errors.Is(err, ErrHeld)) {
		if i, why := s.askAll(ctx, locks, took, asked, wait); why != nil {
			refused, err = i, why
		}
	}
	var more []*Lease
	for i, l := range took {
		switch {
		case l == nil:
		case i < refused || !wait:
			s.add(l)
		default:
			more = append(more, l)
		}
	}
	s.client.giveBackAll(overdue(), more, time.Time{})
	return err
}

// handles takes a handle for each lock that ctx holds, until a handle is refused. It returns the indices of the locks
// that ctx does not hold, and the index of the refused lock.
func (s *LeaseSet) handles(ctx context.Context, locks []*Mutex, took []*Lease) (others []int, refused int, err error) {
	for i, m := range locks {
		l := m.mine(ctx)
		if l == nil {
			others = append(others, i)
			continue
		}
		if took[i], err = m.under(ctx, l, false, false); err != nil {
			return others, i, err
		}
	}
	return others, len(locks), nil
}

// askAll asks the nodes for the locks with the indices asked. It returns the index of the first refused lock, and the
// reason.
func (s *LeaseSet) askAll(ctx context.Context, locks []*Mutex, took []*Lease, asked []int, wait bool) (int, error) {
	kinds := make([]kind.Kind, len(asked))
	for j, i := range asked {
		kinds[j] = locks[i].lock
	}
	began, try := s.client.fan.Now(), s.client.locker.TryAll
	if wait {
		try = s.client.locker.AskAll
	}
	got := try(ctx, kinds, locks[0].ttl)
	for j, g := range got.Grants {
		if i := asked[j]; g.Owner != "" {
			var err error
			if took[i], err = locks[i].lease(ctx, began, g, nil); err != nil { // the client closes
				return i, err
			}
		}
	}
	if got.Refusal == nil {
		return 0, nil
	}
	i := asked[got.At]
	_, err := locks[i].lease(ctx, began, waiting.Grant{}, got.Refusal)
	return i, err
}

// await waits for one more lock. It returns early if a lock of the set is lost.
func (s *LeaseSet) await(ctx context.Context, m *Mutex) error {
	wait, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.inner, func() { cancel(context.Cause(s.inner)) })()
	l, err := m.Lock(wait)
	if err == nil {
		s.add(l)
	}
	if s.inner.Err() != nil {
		return s.stillHeld(m)
	}
	return err
}

// stillHeld returns an error if a lock of the set has ended. m is the lock that the caller waited for, or nil.
func (s *LeaseSet) stillHeld(m *Mutex) error {
	why := s.over()
	switch {
	case why == nil:
		return nil
	case s.client.closed.Load():
		return fmt.Errorf("holdfast: %s: %w", s.subject(), ErrClosed)
	case m == nil:
		return fmt.Errorf("holdfast: %w, while the others were taken", why)
	}
	return fmt.Errorf("holdfast: %w, while lock %q was waited for", why, m.name)
}
