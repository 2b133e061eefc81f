package holdfast

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/register"
)

// handle is a Lease's place among the handles of one lease. The handles form a chain, because a handle has at most one
// child: goroutines under one lease exclude each other, as all goroutines do. A child keeps its place until it and all
// handles below it are released. A handle does not refer to its Lease, so that a child that nobody uses any more
// becomes garbage.
type handle struct {
	first *handle // took the lock; it has the fields under its lock
	above *handle // the handle whose context took this one; nil for the first
	ttl   time.Duration

	// values is the context of the call that took this handle or set. It is nil for a first handle that is in no set.
	values context.Context

	// The mu of first guards these fields of every handle in the chain.
	mu    sync.Mutex
	below *handle
	ended bool
	*rest
}

// rest has the fields that a lease needs only for a handle, a Context, an UnlockAt or a value. Most leases have none of these.
// The lock of first guards these fields too.
type rest struct {
	line  []*turn   // calls that wait until below is free, in the order in which they came
	until time.Time // used in first: the latest instant of an UnlockAt; zero: none

	register *register.Register // used in first: nil until Load or Store is called

	inner  context.Context         // ends with the handle; nil until Context is called
	cancel context.CancelCauseFunc // ends inner
}

// none is the rest of a lease that needs none of its fields. Nobody writes to none.
var none rest

// needs makes room for the fields of rest. The lock of first is held.
func (l *handle) needs() {
	if l.rest == &none {
		l.rest = new(rest)
	}
}

// turn is a call that waits for a place below a handle. came is closed when the call has the place, or can no longer
// get it.
type turn struct{ came chan struct{} }

// over reports whether the handle was released. A nil handle was not.
func (l *handle) over() bool {
	if l == nil {
		return false
	}
	l.first.mu.Lock()
	defer l.first.mu.Unlock()
	return l.ended
}

// end returns the cause of the handle's end, or nil while it is held.
func (l *Lease) end() error {
	if err := l.held.End(); err != nil {
		return err
	}
	l.first.mu.Lock()
	defer l.first.mu.Unlock()
	if l.ended {
		return ErrReleased
	}
	return nil
}

// work returns the context of the handle, without the handle itself as a value.
func (l *Lease) work() context.Context {
	inner := l.ownContext()
	if l.values == nil {
		return inner
	}
	return valued{inner, l.values}
}

// ownContext returns the context that ends with the handle and has no values of a caller. It has no reference to l.
func (l *Lease) ownContext() context.Context {
	held := l.held.Context()
	l.first.mu.Lock()
	defer l.first.mu.Unlock()
	if l.inner == nil {
		l.needs()
		l.inner, l.cancel = context.WithCancelCause(held)
		if l.ended {
			l.cancel(ErrReleased)
		}
	}
	return l.inner
}

// valued is a context with the values of another context, which does not end it.
type valued struct {
	context.Context
	// values comes from context.WithoutCancel, so it has no value for the key by which contexts find their parent.
	values context.Context
}

func (v valued) Value(key any) any {
	if value := v.values.Value(key); value != nil {
		return value
	}
	return v.Context.Value(key)
}

// outer returns the context in which the lease of l was taken.
func (l *Lease) outer() context.Context {
	if l.values != nil {
		return l.values
	}
	return l.held.Context()
}

// take returns a handle below l, or nil if there is one already. after is the turn of a call that has waited.
func (l *Lease) take(ctx context.Context, ttl time.Duration, after *turn) (*Lease, error) {
	if err := l.held.End(); err != nil {
		return nil, err
	}
	f := l.first
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case l.ended: // its holder released it
		return nil, ErrReleased
	case l.below != nil || len(l.line) > 0 && l.line[0] != after:
		return nil, nil
	}
	if after != nil {
		l.line = l.line[1:]
	}
	h := &handle{first: f, above: l.handle, ttl: ttl, values: context.WithoutCancel(ctx), rest: &none}
	l.below = h
	l.held.SetTTL(f.longest())
	lease := &Lease{client: l.client, name: l.name, held: l.held, handle: h}
	lease.calm = runtime.AddCleanup(lease, leak.report, leak{events: &l.client.events, held: l.held, of: h}).Stop
	return lease, nil
}

// queue adds a call to the calls that wait for a place below l.
func (l *Lease) queue() *turn {
	t := &turn{make(chan struct{})}
	l.first.mu.Lock()
	defer l.first.mu.Unlock()
	l.needs()
	l.line = append(l.line, t)
	if l.below == nil || l.ended {
		l.next()
	}
	return t
}

// leaves removes a call from the line.
func (l *Lease) leaves(t *turn) {
	l.first.mu.Lock()
	defer l.first.mu.Unlock()
	if i := slices.Index(l.line, t); i >= 0 {
		l.line = slices.Delete(l.line, i, i+1)
		if l.below == nil {
			l.next()
		}
	}
}

// next wakes the first call in line. After the end of l it wakes all. The lock of first is held.
func (l *handle) next() {
	for i, t := range l.line {
		if i > 0 && !l.ended {
			return
		}
		select {
		case <-t.came:
		default:
			close(t.came)
		}
	}
}

// wants notes the TTL that this handle needs. The lease gets the longest TTL of all handles. wants sets it under the
// lock of first, because a handle that comes or goes at the same moment sets it too.
func (l *Lease) wants(ttl time.Duration) error {
	if err := l.held.End(); err != nil {
		return err
	}
	l.first.mu.Lock()
	defer l.first.mu.Unlock()
	if l.ended {
		return ErrReleased
	}
	l.ttl = ttl
	l.held.SetTTL(l.first.longest())
	return nil
}

// longest returns the longest TTL that a handle in use needs. l is the first handle, and its lock is held.
func (l *handle) longest() (ttl time.Duration) {
	for h := l; h != nil; h = h.below {
		if !h.ended {
			ttl = max(ttl, h.ttl)
		}
	}
	return ttl
}

// endHandle ends the handle. last is true if it was the last handle in use. keep is the time for which the handles want
// the name kept, 0 or less if it is free at once.
func (l *Lease) endHandle(at time.Time) (last bool, keep time.Duration, err error) {
	over := l.held.End()
	f := l.first
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.ended {
		return false, 0, ErrReleased
	}
	if over != nil { // the lease ended by a loss or by Close
		return false, 0, over
	}
	l.ended = true
	l.unlocked.Store(true)
	if l.calm != nil {
		l.calm()
	}
	l.next()
	if at.After(f.until) {
		f.needs()
		f.until = at
	}
	h := l.handle
	for h.ended && h.below == nil && h.above != nil {
		h = h.above
		h.below = nil
		h.next()
	}
	last = h == f && f.ended && f.below == nil
	if !last {
		l.held.SetTTL(f.longest())
		l.held.KeepUntil(f.until)
	}
	if l.cancel != nil && !last { // the end of the lease ends this context otherwise
		l.cancel(ErrReleased)
	}
	if !f.until.IsZero() {
		keep = min(time.Until(f.until), l.client.config.MaxTTL)
	}
	return last, keep, nil
}
