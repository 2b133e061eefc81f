package sim

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
)

// Some worlds have readers. No writer may have a name beside anybody, and tokens grow with each writer. A reader that
// does not bid joins a lease of its client. It may join only within one window after the grant, and only if no other
// call waits for the name.

// drawReaders makes some calls in some worlds take their names shared. All readers of a client ask for its TTL, because
// they share leases.
func (p *Plan) drawReaders() {
	d := dice(luck(p.Seed, 'r', 'w'))
	if !d.hit(0.25) && !(p.Sets && d.hit(0.5)) {
		return
	}
	often, left := pick(&d, 0.2, 0.5, 0.8), dice(luck(p.Seed, 'r', 'l'))
	for i := range p.Actors {
		a := &p.Actors[i]
		for j := range a.Ops {
			o := &a.Ops[j]
			switch {
			case a.Foreign, o.Slot:
			case o.Also != nil:
				o.Nest = d.hit(0.3)
			case d.hit(often):
				o.Shared, o.TTL, o.Left = true, 0, p.readerLeft(&left, o)
				if o.Extend > 0 {
					o.Extend = p.Clients[a.Client].TTL
				}
			case d.hit(0.2) && !o.Do && !o.Nest:
				o.Down, o.Left = true, p.readerLeft(&left, o)
				if d.hit(0.3) { // an Extend with a shorter TTL leaves the earlier deadline
					o.Extend = 8 * p.Window
				}
			}
		}
	}
}

// readerLeft draws the time for which a reader keeps its name taken.
func (p *Plan) readerLeft(d *dice, o *Op) time.Duration {
	if o.Do || !d.hit(0.1) {
		return 0
	}
	return 1 + d.below(pick(d, 4*p.Window, 6*p.Window, p.MaxTTL)) // a promise begins after 4 W
}

// takes returns the call of an op.
func takes(m locker, op Op) func(context.Context) (*holdfast.Lease, error) {
	switch {
	case op.Shared && op.Wait:
		return m.RLock
	case op.Shared:
		return m.TryRLock
	case op.Wait:
		return m.Lock
	}
	return m.TryLock
}

// reads notes a reader. It reports whether the reader joined a lease of another reader of its client, and checks
// that it was allowed to. The caller holds w.mu.
func (w *world) reads(l *held, x *wait) (joined bool) {
	owner := l.lease.Owner()
	b := l.h.owners[owner]
	if l.read = nodescript.IsReader(owner); !l.read || b == nil {
		return false
	}
	b.readers++
	delete(w.names[l.name].shuts, owner) // another handle of the lease: the name is kept when the last one ends
	if b.won == 0 {
		w.result.Tally.Outcomes[GrantedShared]++
		return false
	}
	b.shared = true
	w.result.Tally.Outcomes[JoinedShare]++
	l.first = b.first
	if x.since <= b.won {
		return true // it waited when the lease was granted
	}
	// A client measures the time since the grant with its own clock. That clock may be slow, so a little more than a
	// window is allowed. It may also stop while the host sleeps, so that case is left out.
	if late := x.since - b.won; late > w.plan.Window+w.plan.Window/50 && !l.h.asleep && l.h.woke < b.won && w.plan.Broken == (Broken{}) {
		w.violated(joinedLate, x.name, "client%d/%d joined a lease of name%d %s after its grant; %s is the most", x.h.slot, x.actor, x.name, late, w.plan.Window)
	}
	for _, o := range w.names[x.name].waits { // a set may wait for another name
		if o.h == l.h && o.since < x.since && o.op.OnWait == 0 && o.op.Also == nil {
			w.violated(joinedLate, x.name, "client%d/%d joined a lease of name%d past client%d/%d, which waits since %.6f",
				x.h.slot, x.actor, x.name, o.h.slot, o.actor, o.since.Seconds())
		}
	}
	return true
}

// beside reports whether a reader got a name that other readers have. Such a name is not free, so it says nothing about
// the time for which others waited. The caller holds w.mu.
func (w *world) beside(n *name, l *held) bool {
	if !l.read || !slices.ContainsFunc(n.believed, func(o *held) bool { return o != l && o.read }) {
		return false
	}
	if slices.ContainsFunc(n.believed, func(o *held) bool { return o.read && o.h != l.h }) {
		w.result.Tally.Outcomes[BesideReaders]++
	}
	return true
}

// downgrades makes a writer a reader. The writer counts itself as a reader from the moment before the call. It reports
// whether it still has the name.
func (w *world) downgrades(l *held, lease *holdfast.Lease, op Op) bool {
	w.mu.Lock()
	l.read, l.turns, l.writer = true, true, lease.Owner()
	before := lease.Fence()
	n := w.names[l.name]
	n.barred = max(n.barred, w.now()+longest(w.plan)+w.plan.Window) // until then some nodes may have the writer
	w.note("downgrades", l.h.slot, l.actor, l.name, 0, 0)
	w.mu.Unlock()
	ctx, stop := context.WithTimeout(context.Background(), 2*w.plan.Timeout)
	defer stop()
	done := w.renewers(lease, op)
	err := lease.Downgrade(ctx)
	done()
	if l.h.gone() {
		return false
	}
	if err != nil && op.Renewers > 0 {
		w.mu.Lock()
		w.violated(lostForNothing, l.name, "client%d/%d: a downgrade during calls of Extend failed, although all nodes were well: %v", l.h.slot, l.actor, err)
		w.mu.Unlock()
	}
	switch {
	case errors.Is(err, holdfast.ErrLost), errors.Is(err, holdfast.ErrReleased):
		w.lost(l, err)
		return false
	case err != nil: // it goes on
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l.downgraded, l.turns = true, false
	w.result.Tally.Outcomes[Downgraded]++
	if lease.Fence() <= before {
		w.violated(tokenNotAbove, l.name, "client%d/%d became a reader with token %d, which is not above %d", l.h.slot, l.actor, lease.Fence(), before)
	}
	if b := l.h.owners[lease.Owner()]; b != nil {
		b.won = w.now()
		b.readers++
		// The TTL of the request that won is unknown here. So the code computes a TTL from the validity that is left.
		left := time.Until(lease.Deadline())
		b.first = left + left/100 + 4*w.plan.Window + 2*time.Millisecond
	}
	w.newToken(w.names[l.name], l)
	return true
}

// renewers starts goroutines that call Extend one after the other. The function that it returns stops them.
func (w *world) renewers(lease *holdfast.Lease, op Op) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i := range op.Renewers {
		all.Go(func() {
			time.Sleep(time.Duration(i) * w.plan.Slow / 2)
			for ctx.Err() == nil && lease.Context().Err() == nil {
				_ = lease.Extend(ctx, max(op.Extend, 8*w.plan.Window)) // may fail: another request replaced it
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// nestReader locks the name again under a reader's lease: shared is granted at once, and exclusive is refused at once.
func (w *world) nestReader(l *held, lease *holdfast.Lease, op Op) {
	if !op.Nest {
		return
	}
	began, outer := w.now(), lease.Context()
	m := l.h.client.Mutex(w.called(l.h, op.Name))
	inner, err := m.RLock(outer)
	if err == nil {
		_, up := m.Lock(inner.Context())
		if inner.Owner() != lease.Owner() || !errors.Is(up, holdfast.ErrUpgrade) && inner.Context().Err() == nil && !errors.Is(up, holdfast.ErrClosed) {
			w.nestedWrong(l, "%s under %s, and Lock returned %v", inner, lease, up)
		}
		err = inner.Unlock(context.Background())
	}
	if err != nil && outer.Err() == nil && !errors.Is(err, holdfast.ErrClosed) {
		w.nestedWrong(l, "RLock under its lease, or its Unlock, returned %v", err)
	}
	if now := w.now(); now != began {
		w.nestedWrong(l, "handles took %s, so a node was asked", now-began)
	}
	w.rare(Nested)
}

// readerLeaves notes the end of a reader's handle. UnlockAt of a reader keeps writers out, and no readers. It begins
// when the last handle of the lease ends, until the latest instant that a handle asked for. The caller holds w.mu.
func (w *world) readerLeaves(l *held, left time.Duration, err error) {
	n, owner := w.names[l.name], l.lease.Owner()
	b := l.h.owners[owner]
	if !l.read || b == nil {
		return
	}
	b.readers--
	if b.failed = b.failed || err != nil; left > 0 && err == nil {
		switch {
		case l.downgraded:
			w.result.Tally.Rare[WriterLeft]++
		case b.shared:
			w.result.Tally.Rare[LeftByShare]++
		}
		w.result.Tally.Rare[ReaderLeft]++
		// The subtraction allows for the errors of both clients when they read the nodes' clocks.
		b.left = max(b.left, l.given+left-4*w.plan.Window)
	}
	if b.left == 0 || b.readers > 0 || b.failed {
		return
	}
	if n.shuts == nil {
		n.shuts = map[string]time.Duration{}
	}
	n.shuts[owner] = b.left
}

// shut returns the time until which UnlockAt of a reader keeps writers out of a name. The caller holds w.mu.
func (n *name) shut() (until time.Duration) {
	for _, at := range n.shuts {
		until = max(until, at)
	}
	return until
}

// readers returns the entries of a hash of readers, by owner.
func readers(k nodemodel.Key) map[string]nodescript.Reader {
	all := map[string]nodescript.Reader{}
	for owner, text := range fields(k) {
		if len(text) == 32 && nodescript.IsReader(owner) {
			T, _ := strconv.ParseInt(text[:16], 10, 64)
			ends, _ := strconv.ParseInt(text[16:], 10, 64)
			all[owner] = nodescript.Reader{Owner: owner, Token: T, Expiry: ends}
		}
	}
	return all
}

// readersOf returns the readers of a name on a node.
func (s *server) readersOf(record string) map[string]nodescript.Reader {
	for _, k := range s.model.Keys() {
		if k.Name == nodescript.ReadersKey(record) {
			return readers(k)
		}
	}
	return nil
}

// reader returns a reader of a name on a node.
func (s *server) reader(record, owner string) (r nodescript.Reader, ok bool) {
	r, ok = s.readersOf(record)[owner]
	return r, ok
}
