package holdfast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// mostNames is the largest number of names that one call locks together. The requests for 256 names fit into one
// pipeline to each node: see largestBatch in package fanout. A longer pipeline would keep a node busy for too long.
// The stamps of its last requests could then be too old when the node reads them, and the node would refuse them.
const mostNames = 256

// LockAll waits until it has the locks of all names, and returns them as one [LeaseSet]. The order of the names does
// not matter, and a name may occur twice. The options apply to each lock.
//
// LockAll first asks for all names at once. If all are free, this takes one round trip. If a name is held, LockAll
// gives back the names that sort above this name, and waits for it in the queue. Then it takes the higher names one
// after the other, in sorted order. So two callers of LockAll cannot wait for each other for ever, whatever names
// they have in common.
//
// ctx limits the call, but not the leases. [OnWait] receives the errors of the lock for which LockAll waits. If that
// lock fails, the error is that of its [Mutex.Lock], with its name. If LockAll loses a lock that it already has while
// it waits for another one, the error matches [ErrLost].
//
// After any error the call holds no lock: LockAll gives back what it has. It waits until a majority confirms this,
// for up to [Config.NodeTimeout] or until ctx ends.
//
// The error matches [ErrBadName] if names is empty, has more than 256 different names, or contains a bad name.
//
// If ctx belongs to leases of this client, LockAll returns handles for the names of those leases: see [Mutex.Lock]. A
// rule applies to the other names. Suppose that somebody else holds one of them, and that ctx belongs to a lease
// whose name sorts above it. Then LockAll does not wait, and the error matches [ErrOrder] and [ErrHeld]. Without this
// rule, two callers that each have one lock could wait for each other for ever.
//
// The rule compares names byte by byte, with [Config.Prefix]. It counts the leases of all clients in ctx. It does not
// apply to [Mutex.Lock], which always waits.
func (c *Client) LockAll(ctx context.Context, names []string, opts ...Option) (*LeaseSet, error) {
	return c.all(ctx, names, opts, true)
}

// TryLockAll takes the locks of all names if nobody has any of them. It takes one round trip, or two for more than 64
// names. If a name is not free, the call holds no lock, and the error is that of [Mutex.TryLock] for the first such
// name in sorted order.
//
// Several clients may try for the same names at the same instant. With a single node, one of them then gets all
// names. With several nodes the votes may split in each of a few tries, and then nobody gets them; this is rare. If
// the clients try for different sets that overlap, all of them may fail: each may meet a name that another call takes
// and then gives back.
//
// The other errors are those of [Client.LockAll]. As there, the call returns handles for names that ctx holds.
// TryLockAll does not wait, so it never returns [ErrOrder].
func (c *Client) TryLockAll(ctx context.Context, names []string, opts ...Option) (*LeaseSet, error) {
	return c.all(ctx, names, opts, false)
}

// DoAll waits for the locks of all names as [Client.LockAll] does, runs fn while it holds them, and then releases
// them.
//
// fn's context ends when ctx ends. It also ends when the first of the locks is lost, before somebody else can get
// that lock. [LeaseSetFromContext] gives fn the leases, for their tokens. The errors of DoAll are those of [Mutex.Do]
// and [Client.LockAll].
func (c *Client) DoAll(ctx context.Context, names []string, fn func(ctx context.Context) error, opts ...Option) error {
	switch {
	case ctx == nil:
		return withoutContext("DoAll", "")
	case fn == nil:
		return errors.New("holdfast: DoAll: nil function")
	}
	s, err := c.LockAll(ctx, names, opts...)
	if err != nil {
		return err
	}
	return c.run(ctx, s, fn)
}

func (c *Client) all(ctx context.Context, names []string, opts []Option, wait bool) (*LeaseSet, error) {
	switch {
	case ctx == nil && wait:
		return nil, withoutContext("LockAll", "")
	case ctx == nil:
		return nil, withoutContext("TryLockAll", "")
	}
	locks, err := c.locks(names, opts)
	if err != nil {
		return nil, fmt.Errorf("holdfast: %w", err)
	}
	s := newLeaseSet(c, locks)
	done := false
	defer func() { // deferred, because a function of OnWait may panic
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

// take takes all locks. After an error the set may have some of the locks, and the caller must call abandon.
func (s *LeaseSet) take(ctx context.Context, locks []*Mutex, wait bool) error {
	began := locks[0].startTime()
	err := s.tryAll(ctx, locks, wait)
	switch {
	case err == nil:
		return s.stillHeld(nil)
	case !wait, !errors.Is(err, ErrHeld) && !errors.Is(err, ErrUnavailable):
		return err
	}
	locks = locks[len(s.leases):] // locks[0] is now the lock that was refused
	if err := locks[0].waitable(ctx, err); err != nil {
		locks[0].refuse(ctx, began, err)
		return err
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

// waitable returns nil if LockAll may wait for m, which was refused with err. Otherwise it returns the error of
// LockAll.
func (m *Mutex) waitable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return m.prefix(ended(ctx, err))
	}
	if above := m.above(ctx); above != "" {
		return inOrder(err, above)
	}
	return nil
}

// tryAll asks for all locks at once, and adds the locks that it got to the set. If wait is true and a lock is
// refused, it gives back the locks after the refused one, because LockAll takes locks in sorted order.
func (s *LeaseSet) tryAll(ctx context.Context, locks []*Mutex, wait bool) error {
	if err := locks[0].begin(ctx, wait); err != nil {
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

// handles takes a handle for each lock for which ctx has a lease. It stops at the first handle that is refused.
// others has the indices of the locks for which ctx has no lease. refused is the index of the refused lock, or
// len(locks).
func (s *LeaseSet) handles(ctx context.Context, locks []*Mutex, took []*Lease) (others []int, refused int, err error) {
	for i, m := range locks {
		l := m.leaseIn(ctx)
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

// askAll asks for the locks whose indices are in asked. If a lock is refused, it returns the index of the first one and
// the reason. It asks one node set after the other, in the order of their first names. So of several callers that want
// the same names, one gets them all from the first set. A call that does not wait stops at the first refusal.
func (s *LeaseSet) askAll(ctx context.Context, locks []*Mutex, took []*Lease, asked []int, wait bool) (refused int, why error) {
	for len(asked) > 0 && (wait || why == nil) {
		first := s.client.set(locks[asked[0]].lock.Name())
		var these, others []int
		for _, i := range asked {
			if s.client.set(locks[i].lock.Name()) == first {
				these = append(these, i)
			} else {
				others = append(others, i)
			}
		}
		if i, err := s.askSet(ctx, locks, took, these, wait); err != nil && (why == nil || i < refused) {
			refused, why = i, err
		}
		asked = others
	}
	return refused, why
}

// askSet does the work of askAll for the names of one node set.
func (s *LeaseSet) askSet(ctx context.Context, locks []*Mutex, took []*Lease, asked []int, wait bool) (int, error) {
	kinds := make([]nodescript.Kind, len(asked))
	for j, i := range asked {
		kinds[j] = locks[i].lock
	}
	began, try := s.client.now(), s.client.locker.TryAll
	if wait {
		try = s.client.locker.AskAll
	}
	got := try(ctx, kinds, locks[0].ttl)
	closed, why := 0, error(nil)
	for j, g := range got.Grants { // all of them: each grant without a lease would stay on the nodes for its TTL
		if i := asked[j]; g.Owner != "" {
			var err error
			if took[i], err = locks[i].lease(ctx, began, g, nil); err != nil && why == nil { // the client is being closed
				closed, why = i, err
			}
		}
	}
	if why != nil || got.Refusal == nil {
		return closed, why
	}
	i := asked[got.At]
	err := locks[i].failed(ctx, got.Refusal)
	if !wait { // a call that waits asks for this name again
		locks[i].refuse(ctx, began, err)
	}
	return i, err
}

// await waits for one more lock. It returns early if the set loses a lock that it already has.
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

// stillHeld returns an error if a lock of the set has ended. m is the lock for which the caller waited, or nil.
func (s *LeaseSet) stillHeld(m *Mutex) error {
	why := s.firstEnd()
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

// above returns the name of a lease in ctx that forbids the caller to wait for m, or "" if there is none. A lease
// forbids this if its name sorts above m's name. Otherwise two callers could wait for each other: this caller holds B
// and waits for A, while another caller holds A and waits for B.
//
// If ctx also has a lease of m itself, the call waits only for other handles of that lease. Leases outside that
// lease, and leases of its set, do not count: all users of these handles have the same leases there.
func (m *Mutex) above(ctx context.Context) string {
	own := m.leaseIn(ctx)
	for l, ok := FromContext(ctx); ok && l != own; l, ok = FromContext(l.outer()) {
		shared := own != nil && own.set != nil && l.set == own.set
		if !shared && l.held.Name() > m.lock.Name() && l.end() == nil {
			return l.name
		}
	}
	return ""
}

// inOrder returns the error for a lock for which the call did not wait. above is the name of the lease that forbids
// the wait.
func inOrder(err error, above string) error {
	if !errors.Is(err, ErrHeld) {
		return err
	}
	return orderError{err, above}
}

// orderError is err of the refused lock, together with the name of the lock that forbids the wait.
type orderError struct {
	held  error
	above string
}

func (e orderError) Error() string {
	return fmt.Sprintf("%v; not waited for, because the caller holds %q, which sorts above it", e.held, e.above)
}

func (e orderError) Unwrap() []error { return []error{e.held, ErrOrder} }
