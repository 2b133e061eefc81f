package sim

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Hiccup worlds check renewals. Each client holds its own name for several TTLs. It changes its TTL by Extend,
// sometimes to a much longer TTL, while it cannot reach the nodes for a moment. It must not lose the lease.

// isHiccup reports whether a seed makes a hiccup world.
func isHiccup(seed uint64) bool { return !isTight(seed) && luck(seed, 'y')%16 == 0 }

// drawHiccup makes the plan of a hiccup world.
func drawHiccup(seed uint64) *Plan {
	d := dice(luck(seed, 'y', 'p'))
	p := &Plan{Seed: seed, N: pick(&d, 1, 3, 3, 5), Window: pick[time.Duration](&d, 50, 100, 250) * time.Millisecond}
	shortest := 8 * p.Window
	p.MaxTTL = shortest * time.Duration(2+d.n(39))
	p.Slow = p.Window / pick[time.Duration](&d, 50, 100, 200)
	p.Timeout = p.Window/2 + 8*p.Slow
	for range p.N { // without faults all nodes vote from the beginning
		p.Clocks = append(p.Clocks, d.between(-rightClocks(p.Window), rightClocks(p.Window)))
	}
	p.Heal = time.Second
	for c := range d.n(4) + 2 {
		ttl := shortest + d.below(shortest)
		p.Names = append(p.Names, "name"+string(rune('0'+c)))
		p.Clients = append(p.Clients, ClientPlan{TTL: ttl, Retry: 50 * time.Millisecond})
		a := Actor{ID: c, Client: c}
		at := time.Second
		for range d.n(4) + 2 {
			o := Op{At: at + d.below(time.Millisecond), Name: c, Wait: true, Hold: 2*ttl + d.below(2*ttl)}
			at = p.drawHiccup(&d, &o, 1<<c, ttl)
			a.Ops = append(a.Ops, o)
		}
		p.Actors = append(p.Actors, a)
		p.Heal = max(p.Heal, at)
	}
	// These faults do not affect a holder: they hit a minority of the nodes, and the other clients.
	for range d.n(6) {
		f := Fault{ID: len(p.Faults), Kind: pick(&d, Cut, Hang, Loss, Delay, Restart, Flush, Crash, Inbox), At: d.below(p.Heal), P: 0.5, Clients: 1 << d.n(len(p.Clients))}
		f.For = 1 + d.below(min(p.Heal-f.At, 4*shortest))
		if f.Kind != Crash {
			f.Nodes, f.Clients = 1<<d.n(p.N), 1<<len(p.Clients)-1
			if p.N == 1 {
				continue
			}
		}
		p.Faults = append(p.Faults, f)
	}
	return p
}

// drawHiccup draws an Extend and the fault that hides it from the nodes. It returns the time at which the next lock may
// begin.
func (p *Plan) drawHiccup(d *dice, o *Op, client uint32, ttl time.Duration) time.Duration {
	valid := quorum.Validity(ttl, p.Window)
	o.Extend = pick(d, p.MaxTTL, 8*p.Window+d.below(p.MaxTTL-8*p.Window+1))
	extends := o.At + o.Hold/2
	f := Fault{Kind: pick(d, Cut, CutOut, CutBack), Clients: client, Nodes: 1<<p.N - 1}
	f.At = extends - d.below(p.Window/2)
	f.For = p.Window/2 + d.below(valid/4)
	if d.hit(0.3) {
		// The client extends while the answers to its first renewal are on their way. The messages of Extend are lost.
		first := o.At + valid/3
		extends = first + 8*p.Slow + d.below(p.Timeout/2)
		o.Hold, o.Then = 2*(extends-o.At), 2*ttl
		late := Fault{ID: len(p.Faults), Kind: Delay, At: first - valid/16, For: valid / 8, Clients: client, Nodes: f.Nodes, Back: true, P: 1}
		late.By = min(extends-first+4*p.Slow+d.below(p.Timeout/4), p.Timeout-8*p.Slow)
		p.Faults = append(p.Faults, late)
		f.Kind, f.At = CutOut, extends-p.Slow
	}
	f.ID = len(p.Faults)
	p.Faults = append(p.Faults, f)
	return o.At + 2*o.Hold + o.Then + ttl + d.below(ttl)
}
