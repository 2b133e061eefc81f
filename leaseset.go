package holdfast

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/ending"
)

// LeaseSet is several locks that one call of [Client.LockAll] or [Client.TryLockAll] took together. The client renews
// the lease of each lock until Unlock. A LeaseSet is safe for concurrent use.
//
// If a program drops a LeaseSet without Unlock, its locks stay held, as for a [Lease].
type LeaseSet struct {
	client *Client
	locks  []*Mutex // sorted by name
	leases []*Lease // the leases so far, in the order of locks; complete when the call returns

	inner  context.Context // ends when the first lease ends
	cancel context.CancelCauseFunc
	stops  []func() // functions that stop the set from watching its leases
	enders enders   // the ends of the leases
	ctx    context.Context

	unlocked atomic.Bool // true if Unlock released the set; false if only Close did
	unsure   []*Lease    // leases whose release too few nodes confirmed
}

type leaseSetKey struct{}

func newLeaseSet(c *Client, locks []*Mutex) *LeaseSet {
	s := &LeaseSet{client: c, locks: locks, leases: make([]*Lease, 0, len(locks))}
	s.inner, s.cancel = context.WithCancelCause(context.Background())
	return s
}

// add adds a lease to the set. When this lease ends, the set's context ends.
func (s *LeaseSet) add(l *Lease) {
	own, cancel := l.ownContext(), s.cancel // no reference to s: a forgotten set must become garbage
	ender := l.held.Ender()
	forget := ender.OnEnd(cancel)
	stop := context.AfterFunc(own, func() { cancel(context.Cause(own)) }) // also for the end of a handle
	s.stops = append(s.stops, func() { stop(); forget() })
	s.leases, s.enders = append(s.leases, l), append(s.enders, ender)
}

// enclose builds the set's context: it belongs to all leases of the set, and to the leases of ctx. The values of the
// leases are nested in one context, in the order of the names. So a call with this context finds the lease of each
// name.
func (s *LeaseSet) enclose(ctx context.Context) {
	values := context.WithoutCancel(ctx)
	for _, l := range s.leases {
		l.set, l.values = s, values
		values = context.WithValue(values, leaseKey{}, l)
	}
	inner := ending.Checked{Context: s.inner, Ender: s.enders}
	s.ctx = context.WithValue(ending.Valued{Context: inner, Values: values}, leaseSetKey{}, s)
}

// enders are the ends of several leases. The first one counts.
type enders []ending.Ender

// Err returns the first error of the leases.
func (all enders) Err() error {
	for _, e := range all {
		if err := e.Err(); err != nil {
			return err
		}
	}
	return nil
}

// OnEnd calls f at the end of each lease.
func (all enders) OnEnd(f func(cause error)) (stop func()) {
	stops := make([]func(), len(all))
	for i, e := range all {
		stops[i] = e.OnEnd(f)
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// LeaseSetFromContext returns the innermost set of ctx. A set belongs to ctx if ctx is the context of the set
// ([LeaseSet.Context]), or was made from that context.
func LeaseSetFromContext(ctx context.Context) (*LeaseSet, bool) {
	if ctx == nil {
		panic("holdfast: LeaseSetFromContext: nil Context")
	}
	s, ok := ctx.Value(leaseSetKey{}).(*LeaseSet)
	return s, ok
}

// Names returns the names of the locks, sorted and without duplicates, and without [Config.Prefix].
func (s *LeaseSet) Names() []string {
	names := make([]string, len(s.locks))
	for i, m := range s.locks {
		names[i] = m.name
	}
	return names
}

// Fence returns the fencing token of the lock with this name: see [Lease.Fence]. Each lock has its own token, which
// is greater than 0. Fence returns 0 for a name that is not in the set.
func (s *LeaseSet) Fence(name string) int64 {
	if l := s.lease(name); l != nil {
		return l.Fence()
	}
	return 0
}

// Owner returns the random id under which the nodes store the lock with this name. Each lock has its own id. Owner
// returns "" for a name that is not in the set.
func (s *LeaseSet) Owner(name string) string {
	if l := s.lease(name); l != nil {
		return l.Owner()
	}
	return ""
}

func (s *LeaseSet) lease(name string) *Lease {
	i := slices.IndexFunc(s.leases, func(l *Lease) bool { return l.name == name })
	if i < 0 {
		return nil
	}
	return s.leases[i]
}

// Context returns a context that ends when the first lease of the set ends. After a loss its cause is the
// [*LostError] of that lease, which has the lock's name and matches [ErrLost]. The context then ends before another
// client can get that lock. The other locks stay held until Unlock. After Unlock the cause is [ErrReleased].
//
// The context has the values of the context that LockAll got. It does not end when that context ends: see
// [Lease.Context]. It belongs to every lock of the set. So a call with this context that takes a name of the set gets
// a handle. Two goroutines that take the same name with this context wait for each other.
func (s *LeaseSet) Context() context.Context { return s.ctx }

// Deadline returns the earliest deadline of the leases: see [Lease.Deadline].
func (s *LeaseSet) Deadline() time.Time {
	earliest := s.leases[0].Deadline()
	for _, l := range s.leases[1:] {
		if d := l.Deadline(); d.Before(earliest) {
			earliest = d
		}
	}
	return earliest
}

// String returns the set in one line, for people and logs: the names, the earliest deadline, and "(ended)" if a lease
// has ended.
func (s *LeaseSet) String() string {
	text := fmt.Sprintf("leases of %s, until %s", s.listed(), s.Deadline().UTC().Format(time.RFC3339Nano))
	if s.firstEnd() != nil {
		text += " (ended)"
	}
	return text
}

// Extend renews all leases now, and uses ttl for this and all later renewals: see [Lease.Extend]. It renews each
// lease, even if the renewal of another one fails. The errors are joined, and each names its lock.
func (s *LeaseSet) Extend(ctx context.Context, ttl time.Duration) error {
	if ctx == nil {
		return withoutContext("extend", s.listed())
	}
	if err := s.client.config.checkTTL(ttl); err != nil {
		return fmt.Errorf("holdfast: extend %s: %w", s.listed(), err)
	}
	if s.unlocked.Load() {
		return fmt.Errorf("holdfast: extend %s: %w", s.listed(), ErrReleased)
	}
	errs := make([]error, len(s.leases))
	var wait sync.WaitGroup
	for i, l := range s.leases {
		wait.Go(func() { errs[i] = l.Extend(ctx, ttl) })
	}
	wait.Wait()
	return joined(errs)
}

// Unlock releases all locks. It releases each lock, even if the release of another one fails. Context ends before the
// requests are sent to the nodes.
//
// The errors are those of [Lease.Unlock], joined. Each names its lock. The error matches [ErrLost] if at least one
// lock was lost before. After a second Unlock the error matches [ErrReleased].
func (s *LeaseSet) Unlock(ctx context.Context) error {
	if ctx == nil {
		return s.client.endWithout("unlock", s.listed(), s.Unlock)
	}
	return s.release(ctx, time.Time{})
}

// UnlockAt ends all leases now, but the nodes keep the names taken until at: see [Lease.UnlockAt]. The errors are
// joined, and each names its lock.
func (s *LeaseSet) UnlockAt(ctx context.Context, at time.Time) error {
	if ctx == nil {
		return s.client.endWithout("unlock", s.listed(), func(ctx context.Context) error { return s.UnlockAt(ctx, at) })
	}
	return s.client.unlockAt(s.listed(), at, func(at time.Time) error { return s.release(ctx, at) })
}

func (s *LeaseSet) release(ctx context.Context, at time.Time) error {
	if s.unlocked.Swap(true) {
		return fmt.Errorf("holdfast: unlock %s: %w", s.listed(), ErrReleased)
	}
	s.end()
	errs := s.client.giveBackAll(ctx, s.leases, at)
	for i, l := range s.leases {
		errs[i] = l.wrap(ctx, "unlock", errs[i])
		if notConfirmed(errs[i]) {
			s.unsure = append(s.unsure, l)
		}
	}
	return joined(errs)
}

// abandon releases all locks that a failed call has taken so far. It waits until a majority has confirmed this, for
// up to one NodeTimeout or until ctx ends. Otherwise the caller could try again at once and find its own locks.
func (s *LeaseSet) abandon(ctx context.Context) {
	s.end()
	bounded, cancel := context.WithTimeout(ctx, s.client.config.NodeTimeout)
	defer cancel()
	s.client.giveBackAll(bounded, s.leases, time.Time{})
}

// end ends the set's context. The cause is the loss of a lease if one is lost already, else ErrReleased.
func (s *LeaseSet) end() {
	why := s.firstEnd()
	if why == nil {
		why = ErrReleased
	}
	s.cancel(why)
	for _, stop := range s.stops {
		stop()
	}
}

// firstEnd returns the cause of the end of a lease that has ended: the first one by name. It returns nil if all leases
// are held.
func (s *LeaseSet) firstEnd() error {
	for _, l := range s.leases {
		if err := l.end(); err != nil {
			return err
		}
	}
	return nil
}

func (s *LeaseSet) subject() string { return "locks " + s.listed() }

// listed returns the names for the text of an error: all of them, or the first four and the number of the others.
func (s *LeaseSet) listed() string {
	const most = 4
	var b strings.Builder
	for i, m := range s.locks {
		if i == most && len(s.locks) > most+1 {
			fmt.Fprintf(&b, " and %d more", len(s.locks)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", m.name)
	}
	return b.String()
}

func (s *LeaseSet) wasClosed() bool { return slices.ContainsFunc(s.leases, (*Lease).wasClosed) }

func (s *LeaseSet) unconfirmed() {
	for _, l := range s.unsure {
		l.unconfirmed()
	}
}
