package sim

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// In a late world all is well but one thing: the requests of renewals arrive late at the nodes, their answers arrive
// late at the clients, or both, by up to half of what a lease has left. Each client holds names of its own. No lease
// may be lost. Reports of members and questions about votes are never late in these worlds, because nodes refuse late
// ones.
//
// A late request looks to a node as if the node's clock were ahead. So other late worlds have a minority of nodes whose
// clocks are ahead, and a holder that cannot reach the other ones. It must not rely on its lease for longer than these
// nodes keep it.

// isLate reports whether a seed makes a late world.
func isLate(seed uint64) bool { return luck(seed, 'l', 'w')%16 == 0 }

// drawLate makes the plan of a late world.
func drawLate(seed uint64) *Plan {
	d := dice(luck(seed, 'l', 'w', 'p'))
	p := &Plan{Seed: seed, N: pick(&d, 1, 3, 3, 5), Window: pick[time.Duration](&d, 20, 50, 100, 250) * time.Millisecond}
	p.MaxTTL = time.Duration(20+d.n(60)) * p.Window
	p.Slow = p.Window / pick[time.Duration](&d, 20, 50, 100)
	p.Timeout = min(pick(&d, p.Window, 500*time.Millisecond), p.MaxTTL)
	for range p.N {
		p.Clocks = append(p.Clocks, d.between(-rightClocks(p.Window), rightClocks(p.Window)))
	}
	if p.N > 1 && d.hit(0.4) {
		p.drawAhead(&d)
	} else {
		p.drawKept(&d)
	}
	for i := range p.Faults {
		p.Faults[i].ID = i
	}
	return p
}

// drawKept draws holders and late renewals, of which no lease is lost.
func (p *Plan) drawKept(d *dice) {
	p.Kept = true
	ttl := p.MaxTTL/2 + d.below(p.MaxTTL/2)
	// The next renewal is sent after a third of the validity, and the answer must come before the deadline. The node
	// may take the delay of the request for an error of its clock, so this delay counts twice.
	most := quorum.Validity(ttl, p.Window)/2 - p.Window - 8*p.Slow
	for c := range 1 + d.n(3) {
		p.Clients = append(p.Clients, ClientPlan{TTL: ttl, Retry: 50 * time.Millisecond})
		for i := range 1 + d.n(8) {
			name := len(p.Names)
			p.Names = append(p.Names, "name"+string(rune('a'+name)))
			o := Op{At: time.Second + d.below(ttl), Name: name, Wait: true, Hold: 2*ttl + d.below(3*ttl), Shared: d.hit(0.2), Do: d.hit(0.2)}
			if d.hit(0.3) {
				o.Extend, o.Then = ttl+d.below(p.MaxTTL-ttl), ttl
			}
			if i > 0 && !o.Shared && !o.Do && d.hit(0.3) {
				o.Also = []int{name - 1}
				p.Actors = p.Actors[:len(p.Actors)-1]
			}
			p.Actors = append(p.Actors, Actor{ID: len(p.Actors), Client: c, Ops: []Op{o}})
			p.Heal = max(p.Heal, o.At+o.Hold+o.Then)
		}
	}
	p.Heal += ttl
	for at := time.Second + ttl/2; at < p.Heal-ttl; {
		f := Fault{Kind: Delay, At: at, For: ttl/2 + d.below(2*ttl), Nodes: 1<<p.N - 1, Clients: 1<<len(p.Clients) - 1, P: 1, Only: 1 << Extend}
		f.For = min(f.For, p.Heal-at-time.Millisecond)
		request, answer := f, f
		request.By = 1 + d.below(most/2)
		answer.By, answer.Back = 1+d.below(most-2*request.By+2), true
		switch d.n(3) {
		case 0:
			p.Faults = append(p.Faults, request)
		case 1:
			p.Faults = append(p.Faults, answer)
		default:
			p.Faults = append(p.Faults, request, answer)
		}
		at += f.For + d.below(ttl)
	}
}

// drawAhead draws a holder that can reach nodes whose clocks are ahead, and as many others as it needs for a majority.
// Then it can reach none, and another client waits for the name.
func (p *Plan) drawAhead(d *dice) {
	p.MaxTTL = min(p.MaxTTL, 30*p.Window) // a shorter TTL makes more attempts
	p.Names = []string{"name0"}
	for c := range 3 {
		ttl := max(8*p.Window, p.MaxTTL/2) + d.below(p.MaxTTL/2)
		p.Clients = append(p.Clients, ClientPlan{TTL: min(ttl, p.MaxTTL), Retry: 50 * time.Millisecond})
		a := Actor{ID: c, Client: c, Wish: []int{0}}
		for range 6 {
			a.Ops = append(a.Ops, Op{Pause: 1 + d.below(p.MaxTTL/2), Wait: true, Hold: 1 + d.below(3*p.MaxTTL)})
		}
		p.Actors = append(p.Actors, a)
	}
	liars, holder := uint32(1)<<((p.N-1)/2)-1, uint32(1)
	for at := time.Second; len(p.Faults) < 24; at += 4*p.MaxTTL + d.below(p.MaxTTL) {
		lasts := 3*p.MaxTTL + d.below(p.MaxTTL)
		holder = 1 << d.n(len(p.Clients))
		p.Faults = append(p.Faults,
			Fault{Kind: Blip, At: at + d.below(p.MaxTTL), For: lasts, Nodes: liars, By: d.between(p.Window, p.MaxTTL)},
			Fault{Kind: Cut, At: at + d.below(p.MaxTTL/2), For: lasts, Nodes: liars << (p.N - p.N/2), Clients: holder},
			Fault{Kind: pick(d, Cut, CutOut, CutBack), At: at + p.MaxTTL + d.below(p.MaxTTL), For: 2 * p.MaxTTL, Nodes: 1<<p.N - 1, Clients: holder},
		)
		p.Heal = at + 5*p.MaxTTL
	}
}

// mustLast checks that a lease was lost in no late world. The caller holds w.mu.
func (w *world) mustLast(l *held) {
	if w.plan.Kept {
		w.violated(lostForNothing, l.name, "client%d/%d lost name%d, although a majority got and answered each renewal long before the deadline", l.h.slot, l.actor, l.name)
	}
}
