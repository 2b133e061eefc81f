package holdfast

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// LeaseSet is several held locks that [Client.LockAll] or [Client.TryLockAll] took together. The client renews each of
// them until Unlock. It is safe for concurrent use.
//
// A LeaseSet that becomes garbage without Unlock stays held, as a [Lease] does.
type LeaseSet struct {
	client *Client
	locks  []*Mutex // sorted by name
	leases []*Lease // leases of the first locks; of all locks when the call is done

	inner  context.Context // ends when the first lease ends
	cancel context.CancelCauseFunc
	stops  []func() bool // end the watches of the leases
	ctx    context.Context

	unlocked atomic.Bool // true if its holder released it, and not Close
	unsure   []*Lease    // leases whose release too few nodes confirmed
}

type leaseSetKey struct{}

func newLeaseSet(c *Client, locks []*Mutex) *LeaseSet {
	s := &LeaseSet{client: c, locks: locks, leases: make([]*Lease, 0, len(locks))}
	s.inner, s.cancel = context.WithCancelCause(context.Background())
	return s
}

// add adds a lease. The end of this lease ends the set's context.
func (s *LeaseSet) add(l *Lease) {
	own, cancel := l.ownContext(), s.cancel // a reference to s would keep its leases from becoming garbage
	s.stops = append(s.stops, context.AfterFunc(own, func() { cancel(context.Cause(own)) }))
	s.leases = append(s.leases, l)
}

// enclose makes the set's context a context of all its leases, one inside the other. Outside them are the leases of
// ctx.
func (s *LeaseSet) enclose(ctx context.Context) {
	values := context.WithoutCancel(ctx)
	for _, l := range s.leases {
		l.set, l.values = s, values
		values = context.WithValue(values, leaseKey{}, l)
	}
	s.ctx = context.WithValue(valued{s.inner, values}, leaseSetKey{}, s)
}

// LeaseSetFromContext returns the innermost set of ctx: ctx is its [LeaseSet.Context], or was made from it.
func LeaseSetFromContext(ctx context.Context) (*LeaseSet, bool) {
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

// Fence returns the fencing token of a lock: see [Lease.Fence]. Each lock has its own token. Fence returns 0 for a name
// that is not in the set. Every token is greater than 0.
func (s *LeaseSet) Fence(name string) int64 {
	if l := s.lease(name); l != nil {
		return l.Fence()
	}
	return 0
}

// Owner returns the random id under which the nodes store a lock, or "" for a name that is not in the set. Each lock
// has its own id.
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

// Context returns a context that ends as soon as the first lease ends. After a loss its cause is the [*LostError] of
// that lease, which has its name and matches [ErrLost]; it ends before another client can get that lock. The other
// locks stay held until Unlock. After Unlock its cause is [ErrReleased].
//
// The context has the values of the context that LockAll got, and does not end with it: see [Lease.Context]. It belongs
// to every lock of the set. A call with this context that takes a name of the set returns a handle. Goroutines that use
// it for one name wait for each other.
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

// String returns the set in one line, for people and logs: names, earliest deadline, and "(ended)" after the end of a
// lease.
func (s *LeaseSet) String() string {
	text := fmt.Sprintf("leases of %s, until %s", s.listed(), s.Deadline().UTC().Format(time.RFC3339Nano))
	if s.over() != nil {
		text += " (ended)"
	}
	return text
}

// Extend renews all leases now, and uses ttl for this and all later renewals: see [Lease.Extend]. It renews each lease
// even if others fail. The errors are joined, and each names its lock.
func (s *LeaseSet) Extend(ctx context.Context, ttl time.Duration) error {
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

// Unlock releases all locks. It releases each lock even if others fail. Context ends before the nodes get the requests.
//
// The errors are those of [Lease.Unlock], joined; each names its lock. So the error matches [ErrLost] if at least one
// lock was lost before. After a second Unlock it matches [ErrReleased].
func (s *LeaseSet) Unlock(ctx context.Context) error { return s.release(ctx, time.Time{}) }

// UnlockAt ends all leases now, but keeps the names taken on the nodes until at: see [Lease.UnlockAt]. The errors are
// joined, and each names its lock.
func (s *LeaseSet) UnlockAt(ctx context.Context, at time.Time) error {
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

// abandon gives back all locks that a failed call has so far. It waits for a majority unless ctx has ended, because the
// caller may try again at once.
func (s *LeaseSet) abandon(ctx context.Context) {
	s.end()
	bounded, cancel := context.WithTimeout(ctx, s.client.config.NodeTimeout)
	defer cancel()
	s.client.giveBackAll(bounded, s.leases, time.Time{})
}

// end ends the set's context. If a lease is lost already, the cause is that loss.
func (s *LeaseSet) end() {
	why := s.over()
	if why == nil {
		why = ErrReleased
	}
	s.cancel(why)
	for _, stop := range s.stops {
		stop()
	}
}

// over returns the cause of the end of the first lease that has ended, or nil.
func (s *LeaseSet) over() error {
	for _, l := range s.leases {
		if err := l.end(); err != nil {
			return err
		}
	}
	return nil
}

func (s *LeaseSet) subject() string { return "locks " + s.listed() }

// listed returns the names for an error: all of them if there are few.
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

// givenBack reports whether the holder released the set or one of its leases.
func (s *LeaseSet) givenBack() bool {
	return s.unlocked.Load() || slices.ContainsFunc(s.leases, (*Lease).givenBack)
}

func (s *LeaseSet) unconfirmed() {
	for _, l := range s.unsure {
		l.unconfirmed()
	}
}
