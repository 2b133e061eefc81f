package holdfast

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
)

// Lease is a held lock. The client renews it after a third of its validity, until Unlock. It is lost if no renewal
// succeeds before its deadline. It is safe for concurrent use.
//
// A Lease can also be a handle of an older lease. This is so if it was taken with the context of a lease of the same
// lock (see [Mutex.Lock]), and for readers that share a lease (see [Mutex.RLock]). All handles of a lease have the
// same owner, token, renewal and deadline. Each has its own Context and its own Unlock. The last Unlock releases the
// lock.
//
// If a caller drops a Lease without Unlock and it becomes garbage, [Config.Logger] receives a warning. The lock stays
// held and is renewed, because the work that it protects may still run.
type Lease struct {
	client *Client
	name   string
	held   *renewal.Lease
	set    *LeaseSet // the set of LockAll that contains this lease; nil: the lease is in no set
	share  *share    // the shared lease of RLock; nil: the lease is not a reader's
	*handle
	own  handle // the handle of a Lease that took the lock itself
	calm func() // cancels the warning about a dropped Lease, for a handle that took no lock itself; nil for other leases

	unlocked atomic.Bool // true if Unlock released it; false if only Close did

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
	if m.hold > 0 {
		l.held.Limit(m.hold)
	}
	return l
}

// alarm arranges a warning for the case that l becomes garbage while it is held. The keeper, which renews the leases,
// calls alarm soon after the lease begins. Before that call the keeper has a reference to l. When the lease ends, the
// keeper calls the returned function, which cancels the warning.
func (l *Lease) alarm(held *renewal.Lease) func() {
	return runtime.AddCleanup(l, leak.report, leak{events: &l.client.events, held: held}).Stop
}

// leak is the warning about a Lease that became garbage without Unlock. It has no reference to the Lease itself.
type leak struct {
	events *events.Stream
	held   *renewal.Lease
	of     *handle // the handle that became garbage; nil for a Lease that took the lock itself
}

func (k leak) report() {
	if k.held.Held() && !k.of.released() {
		k.events.Emit(events.Event{Kind: events.Dropped, Name: k.held.Name(), Owner: k.held.Owner(), Token: k.held.Token()})
	}
}

// FromContext returns the innermost lease of ctx. A lease belongs to ctx if ctx is the context of the lease
// ([Lease.Context]), or was made from that context.
//
// The context of a [LeaseSet] belongs to all leases of the set. FromContext then returns the lease whose name sorts
// last. [LeaseSetFromContext] returns the set. Both panic if ctx is nil.
func FromContext(ctx context.Context) (*Lease, bool) {
	if ctx == nil {
		panic("holdfast: FromContext: nil Context")
	}
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	return l, ok
}

// Name returns the lock's name, without [Config.Prefix].
func (l *Lease) Name() string { return l.name }

// Owner returns the id under which the nodes store the lease: "label~client~ticket-random", and "~r" after it for a
// reader. [Lease.Downgrade] changes it.
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

// Fence returns the lease's fencing token. It is larger than the token of every earlier lease of this name. Each slot
// of a semaphore has its own sequence of tokens. The token of a shared lease is larger than the tokens of all earlier
// exclusive leases. Readers that share a lease have one token. [Lease.Downgrade] raises the token.
//
// Send the token with every write, and let the resource refuse a token below the highest that it has seen: see
// package fence. Without this check, a holder that was paused past its deadline can overwrite the work of the next
// holder, because no lock can warn a paused process in time. The token fits an SQL BIGINT. It is the time of the
// acquisition in µs since 1970, by the nodes' clocks.
// https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
func (l *Lease) Fence() int64 { return l.held.Token() }

// Context returns a context that ends with the lease. After a loss its cause is a [*LostError], which matches
// [ErrLost]. The context then ends before another client can get the lock. After Unlock its cause is [ErrReleased].
//
// Err and [context.Cause] look at the clock, and so does [context.WithValue] of this context. Done, and contexts that
// package context makes from this one, end when Go runs a goroutine of the lease. In a process that computes on all its
// processors this may be late: see [Stats.Delay]. Work that computes should look at Err of this context.
//
// The context has the values of the context that Lock got. It does not end when that context ends, because that
// context limits only the wait. [Mutex.Do] and [Mutex.TryDo] give their function a context that ends with both.
//
// [Mutex.Lock] with this context, or with a context made from it, returns a handle of this lease. So a function that
// needs the lock can call Lock, even if its caller already has the lock.
func (l *Lease) Context() context.Context {
	// The outermost value refers to l. The keeper, which renews the lease, refers only to the context inside it. If
	// the keeper had a reference to l, a forgotten Lease would never become garbage, and nobody would report it.
	l.once.Do(func() { l.ctx = context.WithValue(l.work(), leaseKey{}, l) })
	return l.ctx
}

// TTL returns the time for which the nodes keep the lease after its last renewal: that of [Config.TTL], [WithTTL] or
// the last Extend of this handle.
func (l *Lease) TTL() time.Duration {
	l.first.mu.Lock()
	defer l.first.mu.Unlock()
	return l.ttl
}

// Deadline returns the instant at which the lease ends if no renewal succeeds before. It is the time at which the
// client sent the last successful renewal, plus the validity (the TTL minus the safety margin). After the end of the
// lease it keeps its last value. Each call reads two clocks, so two calls may differ by some microseconds without a
// renewal.
func (l *Lease) Deadline() time.Time {
	return time.Now().Add(l.held.Deadline().Sub(l.client.now()))
}

// Extend renews the lease now, and uses ttl for this and all later renewals: from 8 × Window to MaxTTL. A shorter ttl
// does not move the deadline back; it has an effect from a later renewal on.
//
// The error matches [ErrLost] or [ErrReleased] if the lease has ended. It matches [ErrUnavailable] if too few nodes
// answered. The lease then stays valid until its deadline, and the client goes on with its renewals. If ctx ends
// first, the error matches ctx's Err and cause, and it is unknown whether the deadline moved.
//
// If a node answers that it does not have the lease, Extend waits up to one [Config.Window] for the answers of the
// other nodes. If a majority gives the same answer, the lease is lost.
//
// All handles of a lease share its deadline, so Extend moves the deadline of all of them. If another handle needs a
// longer TTL, the lease keeps that longer TTL.
func (l *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	if ctx == nil {
		return withoutContext("extend", strconv.Quote(l.name))
	}
	if err := l.client.config.checkTTL(ttl); err != nil {
		return fmt.Errorf("holdfast: extend %q: %w", l.name, err)
	}
	if err := l.wants(ttl); err != nil {
		return l.wrap(ctx, "extend", err)
	}
	return l.wrap(ctx, "extend", l.held.Renew(ctx))
}

// Unlock releases the lock. The lease ends even if Unlock returns an error. Context ends before the request is sent
// to the nodes.
//
// If another goroutine of this client waits for the lock, the lock passes to that goroutine in one round trip, and
// Unlock returns nil at once: see [Config.Fair]. If Unlock leaves a gap for other libraries, it does not wait for the
// end of the gap: see [Config.PollGap].
//
// Unlock returns nil if a majority of the nodes confirmed the release. The error matches [ErrLost] if the lease was
// lost before, and [ErrReleased] if it was released before. It matches [ErrUnavailable] if too few nodes answered.
// The client then repeats the request in the background, and the lock ends with its TTL at the latest. If ctx ends
// first, the error matches ctx's Err and cause; the request is sent to the nodes all the same. If ctx is nil, the error
// says so, and the lease ends all the same.
//
// If other handles of the lease are in use, Unlock ends only this handle, and returns nil at once.
func (l *Lease) Unlock(ctx context.Context) error {
	if ctx == nil {
		return l.client.endWithout("unlock", strconv.Quote(l.name), l.Unlock)
	}
	return l.release(ctx, time.Time{})
}

// UnlockAt ends the lease now, but the nodes keep the name taken until at, and for MaxTTL at most. This time is by
// the nodes' clocks. By another clock, the name may become free up to 1.5 × Window before at. The process may exit
// before at.
//
// Use UnlockAt for a job that must run once per minute on many machines. Without it, a fast machine could finish the
// job before the clock of a slow machine reaches that minute, and the slow machine would run the job again.
//
// If at is in the past, UnlockAt does the same as Unlock. If at is too far ahead, the lease still ends, the name
// stays taken for MaxTTL, and the error says so. The other errors are those of Unlock. Here [ErrUnavailable] means
// that too few nodes keep the name taken.
//
// If other handles of the lease are in use, the nodes keep the name after the last Unlock. They keep it until the
// latest instant that any handle asked for.
func (l *Lease) UnlockAt(ctx context.Context, at time.Time) error {
	if ctx == nil {
		return l.client.endWithout("unlock", strconv.Quote(l.name), func(ctx context.Context) error { return l.UnlockAt(ctx, at) })
	}
	return l.client.unlockAt(fmt.Sprintf("%q", l.name), at, func(at time.Time) error { return l.release(ctx, at) })
}

// unlockAt calls release with at. If at is more than MaxTTL from now, it uses MaxTTL from now and returns an error
// that says so.
func (c *Client) unlockAt(names string, at time.Time, release func(at time.Time) error) error {
	d, most := time.Until(at), c.config.MaxTTL
	if d <= most {
		return release(at)
	}
	err := release(time.Now().Add(most))
	if errors.Is(err, ErrLost) || errors.Is(err, ErrReleased) { // the caller must know this fact first
		return err
	}
	// The lease ends even if at is too far ahead. Otherwise a deferred UnlockAt with such an instant would leave the
	// lock held.
	far := fmt.Errorf("holdfast: unlock %s at %s: that is %s from now; the name is kept for the most that is possible, MaxTTL = %s",
		names, at.UTC().Format(time.RFC3339), d.Round(time.Millisecond), most)
	if err != nil {
		far = fmt.Errorf("%w; %w", far, err)
	}
	return far
}

// release ends the handle. If it is the last handle, release also ends the lease. The nodes then keep the name taken
// until at, or until a later instant that another handle asked for.
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
		err = l.client.unavailable(l.name, l.slots(), l.client.set(l.held.Name()).said.All(l.record, none.Answers, nil))
		doing = what // the error itself names the lock
	case err == renewal.ErrUnknown:
		err = ending.Cause(ctx)
	}
	if l.client.closed.Load() && !errors.Is(err, ErrLost) && !errors.Is(err, ErrReleased) {
		err = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	if errors.As(err, new(*LostError)) {
		return fmt.Errorf("holdfast: %w", err) // the text must name the loss and not the call that found it
	}
	return fmt.Errorf("holdfast: %s: %w", doing, err)
}
