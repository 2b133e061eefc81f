package holdfast

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/renewal"
	"github.com/holdfast-go/holdfast/internal/waiting"
)

// Lease is a held lock. It is renewed at a third of its validity until Unlock, and is lost
// if that fails for too long. It is safe for concurrent use.
//
// A lease that becomes garbage without Unlock is reported to [Config.Logger]; it
// stays held, because the work it protects may still be running.
type Lease struct {
	client *Client
	name   string
	held   *renewal.Lease

	unlocked atomic.Bool // by its holder, and not by Close

	once sync.Once
	ctx  context.Context // made when somebody asks for it
}

type leaseKey struct{}

func newLease(ctx context.Context, m *Mutex, g waiting.Grant) *Lease {
	l := &Lease{client: m.client, name: m.name}
	l.held = m.client.keeper.Keep(ctx, m.lock, g, m.ttl, l.alarm)
	return l
}

// alarm sees to it that a lease that becomes garbage is reported, and returns how to call
// that off. Only from then on may it become garbage: until then the keeper has it.
func (l *Lease) alarm(held *renewal.Lease) func() {
	return runtime.AddCleanup(l, forgotten, leak{name: l.name, logger: l.client.config.Logger, held: held}).Stop
}

type leak struct {
	name   string
	logger *slog.Logger
	held   *renewal.Lease
}

func forgotten(k leak) {
	if k.held.End() == nil {
		k.logger.Warn("a lease was dropped without Unlock; it stays held and is renewed until the client is closed",
			"name", k.name, "owner", k.held.Owner(), "token", k.held.Token())
	}
}

// FromContext returns the innermost lease whose [Lease.Context], or a context made
// from it, ctx is.
func FromContext(ctx context.Context) (*Lease, bool) {
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	return l, ok
}

// Name is the lock's name, without [Config.Prefix].
func (l *Lease) Name() string { return l.name }

// Owner is the random id under which the nodes keep the lease: "label~client~random".
func (l *Lease) Owner() string { return l.held.Owner() }

// String is the lease in one line, for people and logs: name, token and deadline, and that it ended.
func (l *Lease) String() string {
	s := fmt.Sprintf("lease of %q, fence %d, until %s", l.name, l.Fence(), l.Deadline().UTC().Format(time.RFC3339Nano))
	if l.held.End() != nil {
		s += " (ended)"
	}
	return s
}

// Fence is the lease's fencing token: larger than that of every earlier lease of this
// name. Send it along with every write, and let the resource refuse a token below the
// highest it has seen: that protects it from a holder that was paused past its
// deadline, which no lock can tell in time. It fits an SQL BIGINT; it is the time
// of acquisition in µs since the epoch, by the nodes' clocks.
// https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
func (l *Lease) Fence() int64 { return l.held.Token() }

// Context ends when the lease does: with cause [*LostError], which matches [ErrLost], before the lock can be
// somebody else's, or [ErrReleased] at Unlock. Its values are those of the context
// that Lock was given, but it does not end with that one, which bounds the wait only: for work that
// ends with both use [Mutex.Do] or [Mutex.TryDo].
func (l *Lease) Context() context.Context {
	// The value lies above the cancellation: what keeps the lease alive in the keeper
	// must not reach the Lease, or it would never be garbage.
	l.once.Do(func() { l.ctx = context.WithValue(l.held.Context(), leaseKey{}, l) })
	return l.ctx
}

// Deadline is when the lease ends unless it is renewed before: the instant its last
// renewal was sent, plus the TTL, less the margin for clocks. It moves with every
// renewal. After the lease has ended it is in the past, or is when it would have been.
func (l *Lease) Deadline() time.Time {
	return time.Now().Add(l.held.Deadline().Sub(l.client.fan.Now()))
}

// Extend renews the lease now, and from now on for ttl: from 8 × Window to MaxTTL. A
// shorter ttl never moves the deadline back; it counts from the next renewals on.
//
// The error matches [ErrLost] or [ErrReleased] if the lease is over, [ErrUnavailable]
// if too few nodes answered: the lease then stands until its deadline, and renewal
// goes on. If ctx ends first it matches ctx's Err and cause, and the outcome is unknown.
// Where a node says that it did not have the lease, Extend waits for the others, for up to
// a [Config.Window]: they may say so, too, and then the lease is lost.
func (l *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	if err := l.client.config.checkTTL(ttl); err != nil {
		return fmt.Errorf("holdfast: extend %q: %w", l.name, err)
	}
	return l.wrap(ctx, "extend", l.held.Extend(ctx, ttl))
}

// Unlock gives the lock back. The lease is over in any case, and Context has ended
// before the nodes are told.
//
// If another goroutine of this client waits for the lock it is passed on to it, in one
// round trip, and Unlock returns nil at once; see [Config.Fair]. Unlock does not wait for the
// end of a gap that it leaves; see [Config.PollGap].
//
// It returns nil if a majority of the nodes confirmed. The error matches [ErrLost] if
// the lease was lost before, [ErrReleased] if it was given back before,
// [ErrUnavailable] if too few nodes answered: they are told again in the background,
// and the lock ends with its TTL at the latest. If ctx ends first the error matches
// ctx's Err and cause; the nodes are told all the same.
func (l *Lease) Unlock(ctx context.Context) error {
	if l.held.End() == nil { // else it was ended for its holder
		l.unlocked.Store(true)
	}
	return l.wrap(ctx, "unlock", l.held.Release(ctx, l.client.locker.Pass))
}

// UnlockAt ends the lease now, but keeps the name taken on the nodes until at: at most
// MaxTTL from now, by the nodes' clocks: by another it may be free up to 1.5 × Window earlier.
// Nobody has to be there for it: the process may exit. A scheduled
// job uses it to run once although clocks of machines differ. An instant in the past
// is the same as Unlock. Where it is too far ahead the lease ends all the same, the name is
// kept for MaxTTL, and the error says so. Other errors are those of Unlock.
func (l *Lease) UnlockAt(ctx context.Context, at time.Time) error {
	d := time.Until(at)
	switch {
	case d <= 0:
		return l.Unlock(ctx)
	case l.held.End() != nil: // which matters more than a bad argument
		return l.wrap(ctx, "unlock", l.held.End())
	}
	l.unlocked.Store(true)
	most := l.client.config.MaxTTL
	err := l.wrap(ctx, "unlock", l.held.Leave(ctx, min(d, most)))
	if d <= most || errors.Is(err, ErrLost) || errors.Is(err, ErrReleased) {
		return err
	}
	// Not an error that leaves the lease held: in a defer nobody would give it back.
	far := fmt.Errorf("holdfast: unlock %q at %s: that is %s from now; the name is kept for the most that is possible, MaxTTL = %s",
		l.name, at.Format(time.RFC3339), d.Round(time.Millisecond), most)
	if err != nil {
		far = fmt.Errorf("%w; %w", far, err)
	}
	return far
}

func (l *Lease) wrap(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	doing := fmt.Sprintf("%s %q", what, l.name)
	var none *renewal.NoQuorumError
	switch {
	case errors.As(err, &none):
		err = l.client.unavailable(l.name, l.client.answers(none.Answers, nil))
		doing = what // the error names the lock
	case errors.As(err, new(*LostError)):
		doing = what // as this one does
	case err == renewal.ErrUnknown:
		err = causeOf(ctx)
	}
	if l.client.closed.Load() && !errors.Is(err, ErrLost) && !errors.Is(err, ErrReleased) {
		err = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return fmt.Errorf("holdfast: %s: %w", doing, err)
}
