package holdfast

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/register"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
)

// handle is a Lease's place among the handles of one lease. A handle has at most one exclusive child, or any number of
// readers: goroutines under one lease exclude each other as all goroutines do. A child keeps its place until it and all
// handles below it are released. A handle does not refer to its Lease, so that a child that nobody uses any more
// becomes garbage.
type handle struct {
	first *handle // took the lock, or belongs to a share; it has the fields under its lock
	above *handle // the handle whose context took this one; nil for the first
	ttl   time.Duration

	// values is the context of the call that took this handle or set. It is nil for a first handle that is in no set.
	values context.Context

	// The mu of first guards these fields of every handle in the chain.
	mu      sync.Mutex
	below   *handle // the exclusive child
	readers int     // the number of readers below
	ended   bool
	shared  bool // RLock took it, or it was downgraded: it excludes no readers
	reader  bool // it is one of the readers of above; this never changes
	*rest
}

// rest has the fields that a lease needs only for a handle, a Context, an UnlockAt or a value. Most leases have none of
// these. The lock of first guards these fields too.
type rest struct {
	line  []*turn   // calls that wait until below is free, in the order in which they came
	until time.Time // used in first: the latest instant of an UnlockAt; zero: none

	ttls map[time.Duration]int // used in first: the number of readers in use, by their TTL

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
type turn struct {
	came   chan struct{}
	shared bool
}

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

// take returns a handle below l, or nil if there is one already. after is the turn of a call that has waited. shared says
// that the handle is a reader's.
func (l *Lease) take(ctx context.Context, ttl time.Duration, after *turn, shared bool) (*Lease, error) {
	if err := l.held.End(); err != nil {
		return nil, err
	}
	f := l.first
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case l.ended: // its holder released it
		return nil, ErrReleased
	case l.shared && !shared:
		return nil, ErrUpgrade
	case !l.free(shared), !l.shared && len(l.line) > 0 && l.line[0] != after:
		return nil, nil
	}
	if i := slices.Index(l.line, after); i >= 0 {
		l.line = slices.Delete(l.line, i, i+1)
	}
	h := &handle{first: f, above: l.handle, ttl: ttl, reader: shared, shared: shared, values: context.WithoutCancel(ctx), rest: &none}
	if shared {
		l.readers++
		f.counts(ttl, 1)
		l.next() // readers come in together
	} else {
		l.below = h
	}
	l.held.SetTTL(f.longest())
	return l.client.newHandle(l.name, l.held, l.share, h), nil
}

// newHandle returns the Lease of a handle that took no lock itself.
func (c *Client) newHandle(name string, held *renewal.Lease, s *share, h *handle) *Lease {
	lease := &Lease{client: c, name: name, held: held, share: s, handle: h}
	lease.calm = runtime.AddCleanup(lease, leak.report, leak{events: &c.events, held: held, of: h}).Stop
	return lease
}

// free reports whether a handle can be taken below l now. The lock of first is held.
func (l *handle) free(shared bool) bool {
	if shared {
		return l.below == nil || l.shared
	}
	return l.below == nil && l.readers == 0
}

// counts notes that a reader with this TTL comes or goes. l is the first handle, and its lock is held.
func (l *handle) counts(ttl time.Duration, n int) {
	l.needs()
	if l.ttls == nil {
		l.ttls = map[time.Duration]int{}
	}
	if l.ttls[ttl] += n; l.ttls[ttl] == 0 {
		delete(l.ttls, ttl)
	}
}

// queue adds a call to the calls that wait for a place below l.
func (l *Lease) queue(shared bool) *turn {
	t := &turn{make(chan struct{}), shared}
	l.first.mu.Lock()
	defer l.first.mu.Unlock()
	l.needs()
	l.line = append(l.line, t)
	l.next()
	return t
}

// leaves removes a call from the line.
func (l *Lease) leaves(t *turn) {
	l.first.mu.Lock()
	defer l.first.mu.Unlock()
	if i := slices.Index(l.line, t); i >= 0 {
		l.line = slices.Delete(l.line, i, i+1)
		l.next()
	}
}

// next wakes the first call in line if it can take a handle. After the end of l it wakes all calls. It also wakes all
// calls after a downgrade, because exclusive calls then fail. The lock of first is held.
func (l *handle) next() {
	for i, t := range l.line {
		if !l.ended && !l.shared && (i > 0 || !l.free(t.shared)) {
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
	if l.reader {
		l.first.counts(l.ttl, -1)
		l.first.counts(ttl, 1)
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
	for t := range l.ttls {
		ttl = max(ttl, t)
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
	if l.reader {
		f.counts(l.ttl, -1)
	}
	l.next()
	if at.After(f.until) {
		f.needs()
		f.until = at
	}
	h := l.handle
	for h.ended && h.below == nil && h.readers == 0 && h.above != nil {
		if h.reader {
			h.above.readers--
		} else {
			h.above.below = nil
		}
		h = h.above
		h.next()
	}
	last = h == f && f.ended && f.below == nil && f.readers == 0
	if !last {
		if ttl := f.longest(); ttl > 0 { // 0: a reader has just joined, and sets it
			l.held.SetTTL(ttl)
		}
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
