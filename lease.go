package holdfast

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
)

// Lease is a held lock. The client renews it after a third of its validity, until Unlock. It is lost if renewal fails
// for too long. It is safe for concurrent use.
//
// A Lease that was taken under another Lease of the same lock is a handle of that lease: see [Mutex.Lock]. So are the
// leases of readers that share one: see [Mutex.RLock]. All handles share owner, token, renewal and deadline. Each has
// its own Context and its own Unlock. The lock is released with the last handle.
//
// If a lease becomes garbage without Unlock, [Config.Logger] receives a warning. The lease stays held, because the work
// that it protects may still be running.
type Lease struct {
	client *Client
	name   string
	held   *renewal.Lease
	set    *LeaseSet // of LockAll; nil: the lease is no member of a set
	share  *share    // of RLock; nil: the lease has one user
	*handle
	own  handle // handle of the Lease that took the lock
	calm func() // cancels the report of a child that becomes garbage; nil for the Lease that took the lock

	unlocked atomic.Bool // true if its holder released it, and not Close

	once sync.Once
	ctx  context.Context // made at the first call of Context
}

type leaseKey struct{}

func newLease(ctx context.Context, m *Mutex, g waiting.Grant) *Lease {
	l := &Lease{client: m.client, name: m.name}
	l.handle = &l.own
	l.first, l.ttl, l.rest = l.handle, m.ttl, &none
	lock := g.Slot
	if lock == nil {
		lock = m.lock
	}
	l.held = m.client.keeper.Keep(ctx, lock, g.Won, m.ttl, l.alarm)
	return l
}

// alarm makes the client report the lease if it becomes garbage. It returns a function that cancels this. Until that
// function is called the keeper holds a reference.
func (l *Lease) alarm(held *renewal.Lease) func() {
	return runtime.AddCleanup(l, leak.report, leak{events: &l.client.events, held: held}).Stop
}

// leak has the facts about a lease that became garbage.
type leak struct {
	events *events.Stream
	held   *renewal.Lease
	of     *handle // the child that became garbage; nil for the Lease that took the lock
}

func (k leak) report() {
	if k.held.End() == nil && !k.of.over() {
		k.events.Emit(&events.Event{Kind: events.Dropped, Name: k.held.Name(), Owner: k.held.Owner(), Token: k.held.Token()})
	}
}

// FromContext returns the innermost lease of ctx: ctx is its [Lease.Context], or was made from it.
//
// The context of a [LeaseSet] belongs to each of its leases. FromContext then returns the one whose name sorts last, and
// [LeaseSetFromContext] returns the set.
func FromContext(ctx context.Context) (*Lease, bool) {
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	return l, ok
}

// Name returns the lock's name, without [Config.Prefix].
func (l *Lease) Name() string { return l.name }

// Owner returns the random id under which the nodes store the lease: "label~client~random". [Lease.Downgrade] changes it.
func (l *Lease) Owner() string { return l.held.Owner() }

// String returns the lease in one line, for people and logs: name, token, deadline, and "(ended)" after its end.
func (l *Lease) String() string {
	what := ""
	if l.Shared() {
		what = "shared lock "
	}
	if slot := l.Slot(); slot >= 0 {
		what = fmt.Sprintf("slot %d of ", slot)
	}
	s := fmt.Sprintf("lease of %s%q, fence %d, until %s", what, l.name, l.Fence(), l.Deadline().UTC().Format(time.RFC3339Nano))
	if l.end() != nil {
		s += " (ended)"
	}
	return s
}

// Fence returns the lease's fencing token. It is larger than the token of every earlier lease of this name. For a
// semaphore this holds for each slot. The token of a shared lease is larger than those of all earlier exclusive leases.
// Readers that share a lease have one token. [Lease.Downgrade] raises the token.
//
// Send the token with every write, and let the resource refuse a token below the highest that it has seen: see package
// fence. That protects the resource from a holder that was paused past its deadline; no lock can warn such a holder in
// time. The token fits an SQL BIGINT. It is the time of the acquisition in µs since the epoch, by the nodes' clocks.
// https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
func (l *Lease) Fence() int64 { return l.held.Token() }

// Context returns a context that ends with the lease. After a loss its cause is a [*LostError], which matches
// [ErrLost]; it ends before another client can get the lock. After Unlock its cause is [ErrReleased].
//
// The context has the values of the context that Lock got. It does not end with that context, which bounds only the
// wait. For work that ends with both use [Mutex.Do] or [Mutex.TryDo].
//
// [Mutex.Lock] with this context, or with a context made from it, returns a handle of this lease. So a function that
// needs the lock can take it whether or not its caller has it.
func (l *Lease) Context() context.Context {
	// The value is outside the cancellation. The keeper refers to the inner context only, because a reference to the
	// Lease would keep it from ever becoming garbage.
	l.once.Do(func() { l.ctx = context.WithValue(l.work(), leaseKey{}, l) })
	return l.ctx
}

// Deadline returns the instant at which the lease ends if it is not renewed before. It is the time at which the last
// successful renewal was sent, plus the TTL, minus the margin for clocks. Each successful renewal moves it. After the
// end of the lease it keeps its last value.
func (l *Lease) Deadline() time.Time {
	return time.Now().Add(l.held.Deadline().Sub(l.client.fan.Now()))
}

// Extend renews the lease now, and uses ttl for this and all later renewals: from 8 × Window to MaxTTL. A shorter ttl
// never moves the deadline back: it takes effect with later renewals.
//
// The error matches [ErrLost] or [ErrReleased] if the lease has ended. It matches [ErrUnavailable] if too few nodes
// answered: the lease is then valid until its deadline, and renewal goes on. If ctx ends first, the error matches ctx's
// Err and cause, and the outcome is unknown.
//
// If a node answers that it does not have the lease, Extend waits for the other nodes, for up to a [Config.Window]. If
// a majority answers the same, the lease is lost.
//
// Handles share their lease, so Extend renews all of them. The TTL is not set below one that another handle needs.
func (l *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	if err := l.client.config.checkTTL(ttl); err != nil {
		return fmt.Errorf("holdfast: extend %q: %w", l.name, err)
	}
	if err := l.wants(ttl); err != nil {
		return l.wrap(ctx, "extend", err)
	}
	return l.wrap(ctx, "extend", l.held.Renew(ctx))
}

// Unlock releases the lock. The lease ends in any case, and Context ends before the nodes get the request.
//
// If another goroutine of this client waits for the lock, the lock passes to it in one round trip, and Unlock returns
// nil at once: see [Config.Fair]. Unlock does not wait for the end of a gap that it leaves: see [Config.PollGap].
//
// Unlock returns nil if a majority of the nodes confirmed. The error matches [ErrLost] if the lease was lost before,
// and [ErrReleased] if it was released before. It matches [ErrUnavailable] if too few nodes answered. The client then
// repeats the request in the background, and the lock ends with its TTL at the latest. If ctx ends first, the error
// matches ctx's Err and cause; the nodes get the request all the same.
//
// If other handles of the lease are in use, Unlock ends only this handle, and returns nil at once.
func (l *Lease) Unlock(ctx context.Context) error { return l.release(ctx, time.Time{}) }

// UnlockAt ends the lease now, but keeps the name taken on the nodes until at, for MaxTTL at most, by the nodes'
// clocks. By another clock the name may be free up to 1.5 × Window earlier. The process may exit meanwhile.
//
// With UnlockAt a scheduled job runs only once although the clocks of machines differ. With an instant in the past it
// does the same as Unlock. If at is too far ahead, the lease still ends, the name stays taken for MaxTTL, and the error
// says so. The other errors are those of Unlock, but ErrUnavailable says that too few nodes keep the name.
//
// If other handles of the lease are in use, the name is kept when the last of them is released, until the latest instant
// that any handle asked for.
func (l *Lease) UnlockAt(ctx context.Context, at time.Time) error {
	return l.client.unlockAt(fmt.Sprintf("%q", l.name), at, func(at time.Time) error { return l.release(ctx, at) })
}

// unlockAt calls release with at, or with MaxTTL from now if that is sooner. In that case it returns an error that says
// so.
func (c *Client) unlockAt(names string, at time.Time, release func(at time.Time) error) error {
	d, most := time.Until(at), c.config.MaxTTL
	if d <= most {
		return release(at)
	}
	err := release(time.Now().Add(most))
	if errors.Is(err, ErrLost) || errors.Is(err, ErrReleased) { // a more important fact than a bad argument
		return err
	}
	// The lease ends although the argument is bad. If UnlockAt was deferred, nobody else would release the lease.
	far := fmt.Errorf("holdfast: unlock %s at %s: that is %s from now; the name is kept for the most that is possible, MaxTTL = %s",
		names, at.Format(time.RFC3339), d.Round(time.Millisecond), most)
	if err != nil {
		far = fmt.Errorf("%w; %w", far, err)
	}
	return far
}

// release ends the handle. The last handle also ends the lease. The nodes then keep the name taken until the instant at.
// If another handle asked for a later instant, they keep it until that instant.
func (l *Lease) release(ctx context.Context, at time.Time) error {
	last, keep, err := l.endHandle(at)
	if l.share != nil && (last || l.held.End() != nil) {
		l.client.locker.Closed(l.held.Kind().Line(), l.share)
	}
	switch {
	case err != nil:
		return l.wrap(ctx, "unlock", err)
	case !last:
		return nil
	case keep > 0:
		return l.wrap(ctx, "unlock", l.held.Leave(ctx, keep))
	}
	return l.wrap(ctx, "unlock", l.held.Release(ctx, l.client.locker.Pass))
}

func (l *Lease) wrap(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	doing := fmt.Sprintf("%s %q", what, l.name)
	var none *renewal.NoQuorumError
	switch {
	case errors.As(err, &none):
		err = l.client.unavailable(l.name, l.slots(), l.client.answers(l.record, none.Answers, nil))
		doing = what // the error itself names the lock
	case err == renewal.ErrUnknown:
		err = ending.Cause(ctx)
	}
	if l.client.closed.Load() && !errors.Is(err, ErrLost) && !errors.Is(err, ErrReleased) {
		err = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	if errors.As(err, new(*LostError)) {
		return fmt.Errorf("holdfast: %w", err) // the loss is the fact, whichever call finds it
	}
	return fmt.Errorf("holdfast: %s: %w", doing, err)
}
