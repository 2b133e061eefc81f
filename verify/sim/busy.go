package sim

import (
	"context"
	"slices"
	"time"
)

// A processor that is busy runs a goroutine long after it could run: after its timer fired, its answer came, or another
// goroutine woke it. In virtual time such a goroutine always runs at once, so a fault holds it back. The fault acts at
// each hand-over between two goroutines of a client: see [environment.Sources]. The client's clock continues, and so do
// its callers: a holder looks at the context of its lease at any time, and must not be told that it holds a name that
// another client was granted.

// polls reports whether the holder would be told that it has the lease, if it looked at one of its contexts now.
func (l *held) polls() bool {
	return l.ctx.Err() == nil || l.work != nil && l.work.Err() == nil
}

// relies reports whether a holder that waits for the end of its contexts still believes that it has its lease. While
// its client is busy, it looks at its contexts instead, because Done is as late as the goroutines. The caller holds
// w.mu.
func (w *world) relies(l *held) bool {
	if w.now() < w.busyUntil(l.h)+noticed {
		return l.polls()
	}
	return !closed(l.ctx) || l.work != nil && !closed(l.work)
}

// closed reports whether Done of a context is closed. It does not call Err, which ends a lease whose deadline has
// passed.
func closed(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// works notes the context of the work under a lease.
func (w *world) works(l *held, work context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.work = work
}

// isBusy reports whether a seed makes a busy world.
func isBusy(seed uint64) bool { return luck(seed, 'b', 'z')%32 == 0 }

// drawBusyWorld makes the plan of a busy world. Few clients want few names. In turn, each client is busy while it
// cannot reach the nodes, so that it loses its lease, and another client waits for the name.
func drawBusyWorld(seed uint64) *Plan {
	d := dice(luck(seed, 'b', 'z', 'p'))
	p := &Plan{Seed: seed, N: pick(&d, 1, 3, 3, 5), Window: pick[time.Duration](&d, 20, 50, 100, 250) * time.Millisecond}
	p.MaxTTL = time.Duration(8+d.n(16)) * p.Window
	p.Slow = p.Window / pick[time.Duration](&d, 20, 50, 100)
	p.Timeout = min(pick(&d, p.Window, 500*time.Millisecond), p.MaxTTL)
	for range p.N {
		p.Clocks = append(p.Clocks, d.between(-rightClocks(p.Window), rightClocks(p.Window)))
	}
	for i := range 1 + d.n(2) {
		p.Names = append(p.Names, "name"+string(rune('0'+i)))
	}
	p.Sets = len(p.Names) > 1 && d.hit(0.5)
	for range 2 + d.n(3) {
		p.Clients = append(p.Clients, ClientPlan{TTL: 8*p.Window + d.below(p.MaxTTL-8*p.Window+1), Retry: 50 * time.Millisecond})
	}
	p.Heal = time.Second + time.Duration(4+d.n(8))*p.MaxTTL
	for c, client := range p.Clients {
		for range 1 + d.n(2) {
			a := Actor{ID: len(p.Actors), Client: c, Wish: []int{d.n(len(p.Names))}}
			for range 4 + d.n(8) {
				o := Op{Pause: 1 + d.below(p.MaxTTL/4), Name: d.n(len(p.Names)), Wait: d.hit(0.8), Patience: 2 * p.MaxTTL, Do: d.hit(0.3), Shared: d.hit(0.2), Hold: 1 + d.below(3*client.TTL)}
				if p.Sets && !o.Shared && !o.Do && d.hit(0.5) {
					o.Name, o.Also = 0, []int{1}
				}
				a.Ops = append(a.Ops, o)
			}
			p.Actors = append(p.Actors, a)
		}
	}
	for at := time.Second; at < p.Heal-2*p.MaxTTL; at += p.MaxTTL/2 + d.below(p.MaxTTL) {
		busy := p.drawBusyFault(&d, at, p.MaxTTL+d.below(p.MaxTTL))
		p.Faults = append(p.Faults, busy)
		if d.hit(0.7) {
			cut := Fault{ID: len(p.Faults), Kind: pick(&d, Cut, CutOut, CutBack), At: at + d.below(p.MaxTTL/2), Nodes: 1<<p.N - 1, Clients: busy.Clients}
			cut.For = busy.For
			p.Faults = append(p.Faults, cut)
		}
	}
	for i := range p.Faults { // every fault ends before Heal
		f := &p.Faults[i]
		f.For = min(f.For, p.Heal-f.At-time.Millisecond)
	}
	return p
}

// drawBusy makes clients of some worlds busy, whatever other faults there are. It uses its own stream of random
// numbers, so the rest of the plan does not change. The lists of two node sets may differ only if reports of members
// are prompt, so such worlds stay as they are.
func (p *Plan) drawBusy() {
	d := dice(luck(p.Seed, 'b', 'f'))
	if len(p.Faults) == 0 || p.Spare != 0 || p.Rare.has(LongIdle) || !d.hit(1.0/16) {
		return
	}
	for range 1 + d.n(4) {
		at := d.below(p.Heal * 9 / 10)
		f := p.drawBusyFault(&d, at, 1+d.below(pick(&d, p.MaxTTL, 2*p.MaxTTL, 2*time.Second)))
		f.For = min(f.For, p.Heal-f.At-time.Millisecond)
		if f.For > 0 {
			p.Faults = append(p.Faults, f)
		}
	}
}

// drawBusyFault draws a time in which goroutines of one client, or of several, are held back for up to By.
func (p *Plan) drawBusyFault(d *dice, at, lasts time.Duration) Fault {
	f := Fault{ID: 1500 + len(p.Faults), Kind: Busy, At: at, For: lasts, Clients: 1 << d.n(len(p.Clients)), P: pick(d, 0.1, 0.5, 1)}
	if d.hit(0.2) {
		f.Clients = 1<<len(p.Clients) - 1
	}
	f.By = pick(d, time.Millisecond, 20*time.Millisecond, p.Window, p.MaxTTL, 3*time.Second)
	return f
}

// has reports whether the plan has a fault of a kind.
func (p *Plan) has(k Kind) bool {
	return slices.ContainsFunc(p.Faults, func(f Fault) bool { return f.Kind == k })
}

// woken holds a goroutine back that could run now. The caller holds no mutex.
func (h *host) woken() {
	if h.hops == nil {
		return
	}
	d := dice(h.hops.next())
	h.w.mu.Lock()
	var held time.Duration
	for _, f := range h.w.active[Busy] {
		if has(f.Clients, h.slot) && d.hit(f.P) {
			held = min(1+d.below(f.By), f.At+f.For-h.w.now()) + d.below(50*time.Microsecond)
			h.w.countHit(f)
			break
		}
	}
	h.w.mu.Unlock()
	if held > 0 {
		time.Sleep(held)
	}
}

// misses reports whether a driver misses an answer that came in time, because the goroutine that waited for it ran only
// after the deadline. Some drivers then look at the answer first, others at the deadline.
func (h *host) misses(ctx context.Context) bool {
	return h.hops != nil && ctx.Err() != nil && h.hops.next()%2 == 0
}

// busyUntil returns the end of the last time in which the client was busy. It may be in the future. The caller holds
// w.mu.
func (w *world) busyUntil(h *host) (until time.Duration) {
	if h.hops == nil {
		return 0
	}
	for _, f := range w.plan.Faults {
		if f.Kind == Busy && has(f.Clients, h.slot) && f.At <= w.now() {
			until = max(until, f.At+f.For+50*time.Microsecond) // see woken
		}
	}
	return until
}
