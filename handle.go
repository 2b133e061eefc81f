package holdfast

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/register"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
)

// handle is one user of a lease. The first handle took the lock. A handle that is taken with the context of another
// handle is its child. So the handles of a lease form a tree.
//
// A handle has at most one exclusive child, or any number of readers. So goroutines under one lease exclude each
// other. A child counts for its parent until the child and all handles below it are released.
//
// A handle has no reference to its Lease. Otherwise a Lease that a caller forgot would never become garbage, and
// nobody would report the missing Unlock.
type handle struct {
	first *handle // the root of the tree: the handle that took the lock, or the root of a share; its mu guards the tree
	above *handle // the parent; nil for the first handle
	ttl   time.Duration

	// values is the context of the call that took this handle. It is nil for a first handle that belongs to no set.
	values context.Context

	// The mu of first guards these fields of all handles of the lease.
	mu      sync.Mutex
	below   *handle // the exclusive child; nil if there is none
	readers int     // the number of children that are readers
	ended   bool
	shared  bool // the handle is a reader's, or was downgraded: it does not exclude readers
	reader  bool // the handle counts in the field readers of its parent; this never changes
	*rest
}

// rest has the fields that a lease needs only for a child, a Context, an UnlockAt or a value. Most leases need none
// of these, so they save the memory. The mu of first guards these fields too.
type rest struct {
	line  []*turn   // calls that wait for a child of this handle, in the order in which they came
	until time.Time // the latest instant of an UnlockAt; zero: none. Only the first handle has it

	ttls map[time.Duration]int // the number of readers for each TTL. Only the first handle has it

	register *register.Register // nil until Load or Store is called. Only the first handle has it

	inner  context.Context         // ends when this handle ends; nil before the first call of Context
	cancel context.CancelCauseFunc // ends inner
}

// none is the rest of all leases that need none of its fields. It is shared, so nobody may write to it.
var none rest

// needs gives the handle its own rest before a write to one of these fields. The caller has locked the mu of first.
func (l *handle) needs() {
	if l.rest == &none {
		l.rest = new(rest)
	}
}

// turn is a call that waits until it can get a child of a handle. came is closed when the call should try again: it
// can get the child now, or it will never get it.
type turn struct {
	came   chan struct{}
	shared bool
}

// released reports whether the handle was released. It returns false for a nil handle.
func (l *handle) released() bool {
	if l == nil {
		return false
	}
	l.first.mu.Lock()
	defer l.first.mu.Unlock()
	return l.ended
}

// end returns the cause of the handle's end, or nil if the handle is still held.
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

// work returns the context of the handle. FromContext does not find the handle in this context: Context adds it.
func (l *Lease) work() context.Context {
	inner := l.ownContext()
	if l.values == nil {
		return inner
	}
	return ending.Valued{Context: inner, Values: l.values}
}

// ownContext returns a context that ends with the handle. It has no values of a caller and no reference to l.
func (l *Lease) ownContext() context.Context {
	held := l.held.Context()
	l.first.mu.Lock()
	defer l.first.mu.Unlock()
	if l.inner == nil {
		l.needs()
		l.inner, l.cancel = context.WithCancelCause(held)
		l.inner = ending.Checked{Context: l.inner, Ender: l.held.Ender()}
		if l.ended {
			l.cancel(ErrReleased)
		}
	}
	return l.inner
}

// outer returns the context with which the lease of l was taken.
func (l *Lease) outer() context.Context {
	if l.values != nil {
		return l.values
	}
	return l.held.Context()
}

// take returns a child of l, or nil if the call must wait for other handles. after is the turn of a call that has
// waited, or nil. shared asks for a reader's handle.
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
		l.next() // wakes further readers: they can all have handles together
	} else {
		l.below = h
	}
	l.held.SetTTL(f.longest())
	return l.client.newHandle(l.name, l.held, l.share, h), nil
}

// newHandle returns the Lease of a handle that did not take the lock itself.
func (c *Client) newHandle(name string, held *renewal.Lease, s *share, h *handle) *Lease {
	lease := &Lease{client: c, name: name, held: held, share: s, handle: h}
	lease.calm = runtime.AddCleanup(lease, leak.report, leak{events: &c.events, held: held, of: h}).Stop
	return lease
}

// free reports whether the handle can have another child now. The caller has locked the mu of first.
func (l *handle) free(shared bool) bool {
	if shared {
		return l.below == nil || l.shared
	}
	return l.below == nil && l.readers == 0
}

// counts adds n to the number of readers with this TTL: 1 for a reader that comes, -1 for one that goes. l is the
// first handle, and the caller has locked its mu.
func (l *handle) counts(ttl time.Duration, n int) {
	l.needs()
	if l.ttls == nil {
		l.ttls = map[time.Duration]int{}
	}
	if l.ttls[ttl] += n; l.ttls[ttl] == 0 {
		delete(l.ttls, ttl)
	}
}

// queue puts a call into the line of calls that wait for a child of l.
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

// next wakes the first call in line if it can get a child now. It wakes all calls if l has ended or was downgraded,
// because exclusive calls then fail. The caller has locked the mu of first.
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

// wants stores the TTL that this handle needs. The lease gets the longest TTL of all its handles. wants calls SetTTL
// while it has locked the mu of first. Otherwise two handles could change their TTLs at the same moment, and the
// lease could get the shorter TTL.
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

// longest returns the longest TTL that a handle in use needs. l is the first handle, and the caller has locked its
// mu.
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

// endHandle ends the handle. last is true if no handle of the lease is left, so that the caller must release the
// lock. keep is the time for which the nodes must keep the name taken. It is 0 or less if the name becomes free at
// once.
func (l *Lease) endHandle(at time.Time) (last bool, keep time.Duration, err error) {
	over := l.held.End()
	f := l.first
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.ended {
		return false, 0, ErrReleased
	}
	if over != nil { // the lease was lost, or Close ended it
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
		if ttl := f.longest(); ttl > 0 { // 0: a reader has just reserved its handle, and will set the TTL itself
			l.held.SetTTL(ttl)
		}
		l.held.KeepUntil(f.until)
	}
	if l.cancel != nil && !last { // the end of the whole lease also ends this context
		l.cancel(ErrReleased)
	}
	if !f.until.IsZero() {
		keep = min(time.Until(f.until), l.client.config.MaxTTL)
	}
	return last, keep, nil
}
