package redisson

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/internal/holding"
	"github.com/holdfast-go/holdfast/internal/core/ending"
)

// Lease is a held lock. The client renews it after a third of its TTL, until Unlock. It is lost if no renewal
// succeeds before its deadline, or if somebody deletes the lock. It is safe for concurrent use.
//
// The methods have the same meaning as those of [holdfast.Lease]. A Lease that was taken with the context of another
// Lease of the same lock is a handle of that lease: see [Mutex.Lock]. All handles of a lease have the same field,
// token, renewal and deadline. The last Unlock releases the lock.
type Lease struct {
	hold   *hold
	name   string          // of the call that took this lease; handles of one key may have several names
	outer  *Lease          // the lease with whose context this one was taken; nil: this lease took the lock itself
	values context.Context // of the call that took this lease; it may belong to leases of other locks
	ctx    context.Context
	cancel context.CancelCauseFunc
	slot   chan struct{} // has an element while a handle below this lease is in use

	// hold.mu guards these fields.
	unlocked bool
	users    int // 1 for this lease until its Unlock, and 1 for its handle until that has no users
}

type leaseKey struct{}

// FromContext returns the innermost lease of ctx. A lease belongs to ctx if ctx is the context of the lease
// ([Lease.Context]), or was made from that context.
func FromContext(ctx context.Context) (*Lease, bool) {
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	return l, ok
}

// newLease makes a lease that uses the hold. outer is the lease with whose context it is taken, or nil.
func (h *hold) newLease(ctx context.Context, name string, outer *Lease) (*Lease, error) {
	l := &Lease{hold: h, name: name, outer: outer, values: ctx, slot: make(chan struct{}, 1), users: 1}
	l.ctx, l.cancel = context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), leaseKey{}, l))
	l.ctx = ending.Checked{Context: l.ctx, Ender: h.Holding}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.End(); err != nil { // Finish ends this context, too, if it comes later
		return nil, err
	}
	if outer != nil && outer.unlocked { // Unlock came after nested looked: outer has left its place
		return nil, holdfast.ErrReleased
	}
	h.leases[l] = struct{}{}
	if outer != nil {
		outer.users++
	}
	return l, nil
}

// nested returns a handle below l.
func (l *Lease) nested(ctx context.Context, name string, wait bool) (*Lease, error) {
	h := l.hold
	if err := context.Cause(l.ctx); err != nil {
		return nil, err
	}
	select {
	case l.slot <- struct{}{}:
	default:
		if !wait {
			return nil, l.taken()
		}
		select {
		case l.slot <- struct{}{}:
		case <-l.ctx.Done():
			return nil, context.Cause(l.ctx)
		case <-ctx.Done():
			return nil, ended(ctx, l.taken())
		}
	}
	inner, err := h.newLease(ctx, name, l)
	if err != nil {
		<-l.slot
		return nil, err
	}
	// This renewal writes the new count to the nodes. If too few nodes answer, the lease is still valid until its
	// deadline, and the next renewal writes the count.
	if err := h.Renew(ctx); err != nil && (ctx.Err() != nil || !live(err)) {
		_ = inner.Unlock(context.WithoutCancel(ctx))
		return nil, err
	}
	return inner, nil
}

// taken returns the error of a call with the context of a lease whose handle is in use.
func (l *Lease) taken() error {
	l.hold.mu.Lock()
	defer l.hold.mu.Unlock()
	return &HeldError{
		Name: l.name, Holder: l.hold.field, Count: len(l.hold.leases), own: true,
		ExpiresIn: l.hold.Left(),
	}
}

// Name returns the lock's name, before [Config.MapName].
func (l *Lease) Name() string { return l.name }

// Owner returns the field under which the nodes store the lease: "client id:number".
func (l *Lease) Owner() string { return l.hold.field }

// Fence returns the fencing token that the lease took from the counter of RFencedLock. It returns 0 if the name has
// no counter, or if there are several nodes. Tokens grow from holder to holder if every client that locks the name
// takes one: see [Config.Fenced]. If the server loses its memory, they begin again.
func (l *Lease) Fence() int64 { return l.hold.token }

// Count returns the reentrant count: the number of handles of the lease that are in use.
func (l *Lease) Count() int {
	l.hold.mu.Lock()
	defer l.hold.mu.Unlock()
	return len(l.hold.leases)
}

// String returns the lease in one line, for people and logs.
func (l *Lease) String() string {
	s := fmt.Sprintf("redisson lease of %q, owner %s, until %s", l.Name(), l.Owner(), l.Deadline().UTC().Format(time.RFC3339Nano))
	if l.ctx.Err() != nil {
		s += " (ended)"
	}
	return s
}

// Context returns a context that ends with the lease. After a loss its cause is a [*LostError], which matches
// [holdfast.ErrLost]. If the deadline passed, the context ends before another client can get the lock. If somebody
// deleted the lock (forceUnlock), the context ends at the next renewal. Another client may have the lock by then.
// After Unlock the cause is [holdfast.ErrReleased].
//
// The context has the values of the context that Lock got, and does not end when that context ends. Lock with this
// context returns a handle of this lease.
func (l *Lease) Context() context.Context { return l.ctx }

// Deadline returns the instant at which the lease ends if no renewal succeeds before. After the end of the lease it
// keeps its last value.
func (l *Lease) Deadline() time.Time {
	return time.Now().Add(l.hold.Left())
}

// Extend renews the lease now, and uses ttl for this and all later renewals: from 100ms to 24h. A shorter ttl does
// not move the deadline back; it has an effect from a later renewal on.
//
// The error matches [holdfast.ErrLost] or [holdfast.ErrReleased] if the lease has ended. It matches
// [holdfast.ErrUnavailable] if too few nodes answered. The lease then stays valid until its deadline, and the client
// goes on with its renewals. If ctx ends first, the error matches ctx's Err and cause, and it is unknown whether the
// deadline moved.
func (l *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	if ctx == nil {
		return fmt.Errorf("redisson: extend %q: nil Context", l.name)
	}
	if err := holding.CheckTTL("TTL", ttl, holding.LeastTTL); err != nil {
		return fmt.Errorf("redisson: extend %q: %w: %w", l.name, holdfast.ErrBadTTL, err)
	}
	if err := context.Cause(l.ctx); err != nil {
		return l.wrap("extend", err)
	}
	l.hold.SetTTL(ttl)
	return l.wrap("extend", l.hold.Renew(ctx))
}

// Unlock releases the lock. The lease ends even if Unlock returns an error. Context ends before the request is sent
// to the nodes. If other handles of the lease are in use, Unlock ends only this handle, and lowers the count on the
// nodes.
//
// Unlock returns nil if a majority of the nodes confirmed the release. The error matches [holdfast.ErrLost] if the
// lease was lost before, and [holdfast.ErrReleased] if it was released before. It matches [holdfast.ErrUnavailable]
// if too few nodes answered. The client then repeats the request in the background, and the lock ends with its TTL at
// the latest. If ctx ends first, the error matches ctx's Err and cause; the request is sent to the nodes all the
// same.
func (l *Lease) Unlock(ctx context.Context) error {
	if ctx == nil { // the lease ends although the call returns an error
		bounded, cancel := context.WithTimeout(context.Background(), 2*l.hold.client.config.NodeTimeout)
		defer cancel()
		_ = l.Unlock(bounded)
		return fmt.Errorf("redisson: unlock %q: nil Context", l.name)
	}
	h := l.hold
	h.mu.Lock()
	if l.unlocked {
		h.mu.Unlock()
		return l.wrap("unlock", holdfast.ErrReleased)
	}
	l.unlocked = true
	l.cancel(holdfast.ErrReleased)
	delete(h.leases, l)
	l.leave()
	last, end := len(h.leases) == 0, h.End()
	h.mu.Unlock()
	switch {
	case end != nil:
		return l.wrap("unlock", end)
	case last:
		return l.wrap("unlock", h.release(ctx, holdfast.ErrReleased))
	}
	if err := h.Renew(ctx); err != nil && !live(err) {
		return l.wrap("unlock", err)
	}
	return nil // the next renewal writes the count to nodes that missed it
}

// leave removes one user of l. If l has no users left, it also frees the place of l below its outer lease. The caller
// has locked hold.mu.
func (l *Lease) leave() {
	if l.users--; l.users > 0 || l.outer == nil {
		return
	}
	<-l.outer.slot
	l.outer.leave()
}

func (l *Lease) wrap(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*LostError)), errors.As(err, new(*UnavailableError)):
		return fmt.Errorf("redisson: %w", err) // the error itself names the lock
	}
	return fmt.Errorf("redisson: %s %q: %w", what, l.name, err)
}
