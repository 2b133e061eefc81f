package setnx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/internal/client"
	"github.com/holdfast-go/holdfast/compat/internal/holding"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/node"
)

// settling is the time after a grant in which clients that lost the race may still send their GETSET. The first renewal
// comes after it. Until then the lease accepts that another client has changed the value. Later it does not: a change
// then means a new holder.
const settling = time.Second

// Lease is a held lock. The client renews it after a third of its TTL, until Unlock. It is lost if renewal fails for
// too long, or if somebody deletes or changes the value. It is safe for concurrent use.
//
// Its methods have the same meaning as those of [holdfast.Lease]. There is no token and no owner: see the package
// comment.
type Lease struct {
	client   *Client
	name     string
	key      string
	acquired clock.Instant
	holding  *holding.Holding
	values   context.Context // of the call that took the lease; it may belong to leases of other locks
	ctx      context.Context
	cancel   context.CancelCauseFunc

	mu      sync.Mutex
	value   string
	maybe   []string      // later values of renewals whose answers were lost
	seen    clock.Instant // the server's clock showed at most clock then
	clock   int64         // Unix time in ms
	settled bool          // no late GETSET can come any more
	failure string        // the last renewal's, "" after a success
}

type leaseKey struct{}

// FromContext returns the innermost lease of ctx: ctx is its [Lease.Context], or was made from it.
func FromContext(ctx context.Context) (*Lease, bool) {
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	return l, ok
}

// newLease returns the lease of a grant, or nil if it is too late to rely on it.
func (c *Client) newLease(ctx context.Context, name, key, value string, sent clock.Instant) *Lease {
	l := &Lease{client: c, name: name, key: key, value: value, acquired: sent, seen: sent, values: ctx}
	l.clock = c.config.Unit.end(value) - c.config.TTL.Milliseconds()
	l.ctx, l.cancel = context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), leaseKey{}, l))
	l.holding = holding.New(holding.Rules{
		Now: c.now, Go: c.tasks.Go, First: min(c.config.TTL/3, settling),
		Renew:   l.renew,
		Expired: func() error { return l.lose(false, "") },
		Ended:   l.end,
	}, c.config.TTL, sent.Add(c.config.validity(c.config.TTL)))
	if l.holding == nil {
		return nil
	}
	l.ctx = ending.Checked{Context: l.ctx, Ender: l.holding}
	c.mu.Lock()
	c.leases[key] = l
	closed := c.closed
	c.mu.Unlock()
	if closed { // Close did not see it
		l.holding.Finish(client.ErrClosed)
		c.tasks.Go(func() { c.free(key, own(value), c.config.TTL, nil) })
		return l
	}
	l.holding.Start()
	return l
}

// end ends the context. It is called once. The client forgets the lease first: a Close by a caller that saw the end of
// the context does not report this lease.
func (l *Lease) end(why error) {
	l.client.mu.Lock()
	if l.client.leases[l.key] == l {
		delete(l.client.leases, l.key)
	}
	l.client.mu.Unlock()
	l.cancel(why)
}

// race reports whether a client that lost the race may have changed the value.
func (l *Lease) race() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.settled && l.client.now().Sub(l.acquired) <= 2*settling
}

// renew writes a later time. It is one renewal of the holding.
func (l *Lease) renew() error { return l.renewOnce(false) }

// renewOnce does the work of renew. again says that it is the second time.
func (l *Lease) renewOnce(again bool) error {
	c := l.client
	ttl, race, sent := l.holding.TTL(), l.race(), c.now()
	proposal, values := l.propose(sent, ttl)
	if values == nil { // a release has begun, and does not know a later proposal
		return l.holding.End()
	}
	a := c.ask(renewScript, l.key, append([]string{
		mode(race), millisecondsOf(c.config.Skew), millisecondsOf(ttl), c.config.Unit.code(), proposal,
	}, values...)...)
	switch a.verdict {
	case done:
		l.mu.Lock()
		l.value, l.maybe, l.failure = a.value, nil, ""
		l.seen, l.clock = sent, c.config.Unit.end(a.value)-a.left.Milliseconds()
		l.settled = l.settled || sent.Sub(l.acquired) >= settling
		l.mu.Unlock()
		err := l.holding.Renewed(sent.Add(c.config.validity(min(ttl, a.left))))
		if err == nil && !again && a.left < ttl-c.now().Sub(sent) {
			return l.renewOnce(true) // the server's clock has moved since the last answer, so the proposal was too early
		}
		return err
	case gone:
		return l.lose(true, a.value)
	}
	l.mu.Lock()
	l.failure = c.failure(a)
	if node.Unsent(a.err) {
		l.maybe = values[1:] // without the proposal
	}
	l.mu.Unlock()
	if err := l.holding.End(); err != nil {
		return err
	}
	return &UnavailableError{Name: l.name, Node: c.failure(a)}
}

// mostMaybe limits the values of renewals whose answers were lost.
const mostMaybe = 128

// propose returns the value for a renewal that is sent now, and the values that the server may have before it.
func (l *Lease) propose(now clock.Instant, ttl time.Duration) (proposal string, values []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holding.End() != nil {
		return "", nil
	}
	values = append([]string{l.value}, l.maybe...)
	proposal = values[len(values)-1]
	if len(values) <= mostMaybe {
		proposal = l.client.config.Unit.value(l.clock + (now.Sub(l.seen) + ttl).Milliseconds())
	}
	if !slices.Contains(values, proposal) {
		l.maybe = append(slices.Clone(l.maybe), proposal)
	}
	return proposal, values
}

// releases returns the request that releases the lease on the server.
func (l *Lease) releases() release {
	l.mu.Lock()
	defer l.mu.Unlock()
	return release{values: append([]string{l.value}, l.maybe...), mode: "own"}
}

// lasts is the time for which the value may last from now on. An Extend may have set a longer TTL, and the answer to
// its renewal may have been lost.
func (l *Lease) lasts() time.Duration {
	left := l.holding.Left()
	return max(l.client.config.TTL, l.holding.TTL(), left+left/50+l.client.config.Skew)
}

// lose ends the lease as lost, and removes the rest of it from the server.
func (l *Lease) lose(isGone bool, value string) error {
	l.mu.Lock()
	e := &LostError{Name: l.name, Gone: isGone, Value: value, Node: l.failure}
	l.mu.Unlock()
	if l.holding.Finish(e) && !isGone {
		r := l.releases()
		r.mode = "ended"
		l.client.tasks.Go(func() { l.client.free(l.key, r, l.lasts(), nil) })
	}
	return l.holding.End()
}

// release ends the lease because of why, and tells the server.
func (l *Lease) release(ctx context.Context, why error) error {
	race := l.race()
	if !l.holding.Finish(why) {
		return l.holding.End()
	}
	c, r := l.client, l.releases()
	r.mode = mode(race)
	first := make(chan answer, 1)
	c.tasks.Go(func() { c.free(l.key, r, l.lasts(), first) })
	select {
	case a := <-first:
		switch a.verdict {
		case done:
			return nil
		case gone:
			return &LostError{Name: l.name, Gone: true, Value: a.value}
		case held:
			return &UnavailableError{Name: l.name, Node: c.config.Node.Addr() + ": the request came after the time of the lock"}
		}
		return &UnavailableError{Name: l.name, Node: c.failure(a)}
	case <-ctx.Done():
		return ending.Cause(ctx)
	}
}

// Name returns the lock's name, before [Config.MapName].
func (l *Lease) Name() string { return l.name }

// Value returns the time that the client wrote last, as the server stores it.
func (l *Lease) Value() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.value
}

// String returns the lease in one line, for people and logs.
func (l *Lease) String() string {
	s := fmt.Sprintf("setnx lease of %q, value %s, until %s", l.name, l.Value(), l.Deadline().UTC().Format(time.RFC3339Nano))
	if l.ctx.Err() != nil {
		s += " (ended)"
	}
	return s
}

// Context returns a context that ends with the lease. After a loss its cause is a [*LostError], which matches
// [holdfast.ErrLost]. If the deadline passed, the context ends before another client can get the lock, if no clock is
// wrong by more than [Config.Skew]. If somebody deleted or changed the value, it ends at the next renewal, which is too
// late: see the package comment. After Unlock the cause is [holdfast.ErrReleased].
//
// It has the values of the context that Lock got, and does not end with that context.
func (l *Lease) Context() context.Context { return l.ctx }

// Deadline returns the instant at which the lease ends if it is not renewed before. After the end it keeps its last
// value.
func (l *Lease) Deadline() time.Time { return time.Now().Add(l.holding.Left()) }

// Extend renews the lease now, and uses ttl for this and all later renewals: from 100ms to 24h, and at least three
// times [Config.Skew]. A shorter ttl never moves the deadline back: it takes effect with later renewals.
//
// The error matches [holdfast.ErrLost] or [holdfast.ErrReleased] if the lease has ended. It matches
// [holdfast.ErrUnavailable] if the server did not answer: the lease is then valid until its deadline, and renewal goes
// on. If ctx ends first, the error matches ctx's Err and cause, and the outcome is unknown.
func (l *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	if ctx == nil {
		return fmt.Errorf("setnx: extend %q: nil Context", l.name)
	}
	if err := l.client.config.checkTTL(ttl); err != nil {
		return fmt.Errorf("setnx: extend %q: %w: %w", l.name, holdfast.ErrBadTTL, err)
	}
	if err := l.holding.End(); err != nil {
		return l.wrap("extend", err)
	}
	l.holding.SetTTL(ttl)
	return l.wrap("extend", l.holding.Renew(ctx))
}

// Unlock releases the lock. The lease ends in any case, and Context ends before the server gets the request. The key is
// deleted only if its value is still this lease's.
//
// The error matches [holdfast.ErrLost] if the lease was lost before, and [holdfast.ErrReleased] if it was released
// before. It matches [holdfast.ErrUnavailable] if the server did not answer. The client then repeats the request in the
// background, and the lock ends with its TTL at the latest. If ctx ends first, the error matches ctx's Err and cause;
// the server gets the request all the same.
func (l *Lease) Unlock(ctx context.Context) error {
	if ctx == nil { // the lease ends although the call returns an error
		bounded, cancel := context.WithTimeout(context.Background(), 2*l.client.config.NodeTimeout)
		defer cancel()
		_ = l.Unlock(bounded)
		return fmt.Errorf("setnx: unlock %q: nil Context", l.name)
	}
	return l.wrap("unlock", l.release(ctx, holdfast.ErrReleased))
}

func (l *Lease) wrap(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*LostError)), errors.As(err, new(*UnavailableError)):
		return fmt.Errorf("setnx: %w", err) // the error names the lock
	}
	return fmt.Errorf("setnx: %s %q: %w", what, l.name, err)
}
