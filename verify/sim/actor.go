package sim

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/verdict"
)

// act runs the locks of one goroutine of a client.
func (w *world) act(a *Actor) {
	if a.Watch {
		w.watches(a)
		return
	}
	for _, op := range a.Ops {
		time.Sleep(max(op.Pause, op.At-w.now()))
		if op.Rush > 0 {
			d := dice(luck(w.plan.Seed, 'g', uint64(a.ID), uint64(w.now())))
			time.Sleep(op.Rush - w.now()%op.Rush + d.below(w.plan.Slow/2))
		}
		var h *host
		if !a.Foreign {
			h = w.host(a.Client)
		}
		w.enters()
		if a.Foreign {
			w.foreign(a, op)
			w.exits()
			continue
		}
		got := w.lock(h, a, op, w.now())
		w.exits()
		if got && a.Once {
			break
		}
	}
	<-w.healed
	d := dice(luck(w.plan.Seed, 'w', uint64(a.ID)))
	slots := w.plan.Slots != nil && a.ID%2 == 0
	for _, n := range a.Wish {
		for wanted := time.Duration(0); ; {
			time.Sleep(d.between(1, w.plan.Window))
			h := w.host(a.Client)
			if wanted == 0 {
				wanted = w.now()
			}
			// This call waits until the leases of dead clients have expired and lost memories have no effect any more.
			// Before that, a client may be told that no quorum answered.
			if w.lock(h, a, Op{Name: n, Slot: slots, Wait: true, Hold: d.below(2 * time.Millisecond)}, wanted) {
				break
			}
		}
	}
}

// lock makes one call. It holds the lock for a while if the call got it. It reports whether the call got the lock.
func (w *world) lock(h *host, a *Actor, op Op, wanted time.Duration) bool {
	if h == nil {
		return true
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if op.Look != 0 {
		w.ends.Go(func() { w.look(h, op) })
	}
	switch {
	case op.Dead:
		w.rare(DeadCall)
		cancel()
	case op.Patience == 0:
	case op.Cancel:
		defer time.AfterFunc(op.Patience, cancel).Stop()
	default:
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, op.Patience)
		defer stop()
	}
	ttl := w.plan.Clients[h.slot].TTL
	opts := []holdfast.Option{holdfast.OnWait(func(err error) { w.countRefusal(err); w.settles(h, err); w.onWait(op) })}
	if op.TTL != 0 {
		ttl = op.TTL
		opts = append(opts, holdfast.WithTTL(ttl))
	}
	asked := w.asks(h, a, op, wanted)
	if op.Terms > 0 {
		return w.elects(ctx, asked, ttl, opts)
	}
	if len(op.Also) > 0 {
		return w.lockAll(ctx, asked, ttl, opts)
	}
	m := w.locker(h, op, opts...)
	if op.Do {
		return w.do(ctx, m, asked, ttl)
	}
	var lease *holdfast.Lease
	var err error
	panicked := recovers(func() {
		lease, err = takes(m, op)(ctx)
	})
	if panicked {
		err = errPanicked
	}
	if h.gone() {
		w.vanished(asked)
		return false
	}
	if err != nil {
		w.twins(err)
		w.refused(asked, err)
		return false
	}
	if op.Slot {
		w.rare(SlotTaken)
	}
	w.hold(w.granted(asked, lease, ttl), lease, op)
	return true
}

// hold keeps a lease for a while and releases it.
func (w *world) hold(l *held, lease *holdfast.Lease, op Op) {
	if op.Shared {
		w.nestReader(l, lease, op)
	} else {
		lease = w.nest(l, lease, op)
	}
	if w.keep(l, lease, op) {
		w.giveBack(l, lease, op)
	}
}

// keep holds a lease for a while. It reports whether the holder still has the lease afterwards.
func (w *world) keep(l *held, lease holding, op Op) bool {
	h := l.h
	pause := func(d time.Duration) bool {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return true
		case <-lease.Context().Done():
			w.lost(l, context.Cause(lease.Context()))
		case <-h.over:
			if !h.gone() { // the client is being closed, and closing ends the lease
				<-lease.Context().Done()
				w.lost(l, context.Cause(lease.Context()))
			}
		}
		return false
	}
	before := lease.Deadline()
	if one, ok := lease.(*holdfast.Lease); ok && op.Values > 0 {
		w.usesValue(l, one, op.Values)
	}
	if op.Extend != 0 {
		if !pause(op.Hold / 2) {
			return false
		}
		err := lease.Extend(context.Background(), op.Extend)
		w.mu.Lock()
		for _, o := range l.set() {
			o.ttl = max(o.ttl, op.Extend)
		}
		w.mu.Unlock()
		switch {
		case h.gone():
			return false
		case err == nil:
			w.count(Extended)
		case errors.Is(err, holdfast.ErrLost), errors.Is(err, holdfast.ErrReleased):
			w.lost(l, err)
			return false
		}
		op.Hold = op.Hold/2 + op.Then
	}
	if op.Down && !(pause(op.Hold/2) && w.downgrades(l, lease.(*holdfast.Lease), op)) {
		return false
	}
	if !pause(op.Hold) || h.gone() {
		return false
	}
	if lease.Deadline().After(before) {
		w.count(Renewed)
	}
	return true
}

// giveBack ends a lease that its holder still relies on.
func (w *world) giveBack(l *held, lease holding, op Op) {
	h := l.h
	w.gives(l, op.Left)
	bounded, stop := context.WithTimeout(context.Background(), 2*w.plan.Timeout)
	defer stop()
	var err error
	if op.AtOnce {
		defer w.atOnce(l, lease)()
	}
	if op.Left > 0 {
		err = lease.UnlockAt(bounded, time.Now().Add(op.Left))
	} else {
		err = lease.Unlock(bounded)
	}
	if !h.gone() {
		w.gave(l, op, err)
	}
}

// countRefusal counts the error of an attempt by a waiter that continues to wait.
func (w *world) countRefusal(err error) {
	if o := outcome(err); o == Contended || o == OffClock {
		w.count(o)
	}
	w.twins(err)
}

// twins counts the nodes that a client identified as copies of other nodes.
func (w *world) twins(err error) {
	var held *holdfast.HeldError
	var none *holdfast.UnavailableError
	var nodes []verdict.Answer
	switch {
	case errors.As(err, &held):
		nodes = held.Nodes
	case errors.As(err, &none):
		nodes = none.Nodes
	}
	for _, n := range nodes {
		if n.Reason == verdict.ReasonDuplicate {
			w.count(Duplicated)
		}
		if n.Cause == verdict.CauseStranger {
			w.count(Strange)
		}
	}
}

// split reports whether some nodes granted a name that other nodes gave to another owner.
func split(nodes []verdict.Answer) bool {
	return slices.ContainsFunc(nodes, granted)
}

// granted reports whether a node granted the name, in time or too late.
func granted(n verdict.Answer) bool {
	return n.Reason == verdict.ReasonGranted || n.Reason == verdict.ReasonGrantedLate
}

// outcome returns the outcome that describes an error.
func outcome(err error) Outcome {
	var held *holdfast.HeldError
	var none *holdfast.UnavailableError
	switch {
	case err == nil:
		return Granted
	case errors.Is(err, holdfast.ErrClosed):
		return ClientClosed
	case errors.Is(err, errPanicked):
		return Panicked
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	case errors.As(err, &held) && held.Holder().Foreign:
		return HeldByForeign
	case errors.As(err, &held) && (held.Holder().Owner == "" || split(held.Nodes)):
		return Contended
	case errors.As(err, &held):
		return HeldByOther
	case !errors.As(err, &none):
		return outcomes // the error has no known kind
	}
	said := map[Outcome]int{}
	for _, n := range none.Nodes {
		switch {
		case n.VotesIn > 0:
			said[Quarantined]++
		case n.Reason == verdict.ReasonMisconfigured:
			said[Misconfigured]++
		case n.Reason == verdict.ReasonOffClock, n.Reason == verdict.ReasonLate:
			said[OffClock]++
		}
	}
	for _, o := range [...]Outcome{Misconfigured, Quarantined, OffClock} {
		if said[o] > 0 {
			return o
		}
	}
	return Unavailable
}
