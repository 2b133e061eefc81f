package sim

import (
	"fmt"
	"time"
)

// Vault worlds check values. There are three kinds. In one, holders follow each other quickly, and load and store all
// the time. Messages are lost, and single nodes are cut off or lose their memory. In the other kind a value reaches two
// nodes of three. One of them forgets it while nobody uses the value, and the other one is cut off when the next holder
// loads. Only the rule about young memories then keeps the holder from the older value of the third node. In the third
// kind all memories are young, and several clients want each new name at the same moment. Its holder, who may have the
// lease on a bare majority at first, must be able to load, also if some questions reach a node too late.

// isVault reports whether a seed makes a vault world.
func isVault(seed uint64) bool { return luck(seed, 'v', 't')%48 == 0 }

// drawVault makes the plan of a vault world: clients that use the value of one name.
func drawVault(seed uint64) *Plan {
	d := dice(luck(seed, 'v', 'p'))
	p := &Plan{Seed: seed, N: pick(&d, 3, 3, 5), Window: pick[time.Duration](&d, 20, 50) * time.Millisecond, Names: []string{"name0"}}
	p.MaxTTL = 8 * p.Window * pick[time.Duration](&d, 1, 2)
	p.Slow = p.Window / pick[time.Duration](&d, 20, 50)
	p.Timeout = 2 * p.Window
	for range p.N { // without faults all nodes vote from the beginning
		p.Clocks = append(p.Clocks, d.between(-p.Window/4, p.Window/4))
	}
	p.Heal = 60 * p.MaxTTL
	if d.hit(0.4) {
		p.drawForgotten(&d)
		return p
	}
	if d.hit(0.3) {
		p.drawNewNames(&d)
		return p
	}
	for c := range 3 {
		p.Clients = append(p.Clients, ClientPlan{TTL: p.MaxTTL, Retry: 20 * time.Millisecond})
		a := Actor{ID: c, Client: c, Wish: []int{0}}
		for range 40 {
			o := Op{Pause: 1 + d.below(p.MaxTTL/2), Wait: true, Patience: 2 * p.MaxTTL, Hold: 1 + d.below(p.Slow), Values: 1 + d.n(4)}
			if d.hit(0.2) {
				o.Hold += d.below(p.MaxTTL) // some renewals
			}
			a.Ops = append(a.Ops, o)
		}
		p.Actors = append(p.Actors, a)
	}
	all := uint32(1)<<p.N - 1
	add := func(f Fault) {
		f.ID, f.Clients = len(p.Faults), 7
		f.At += time.Duration(f.ID)
		f.For = min(f.For, p.Heal*9/10-f.At)
		p.Faults = append(p.Faults, f)
	}
	for _, back := range []bool{false, true} {
		add(Fault{Kind: Loss, For: p.Heal, Nodes: all, P: 0.2, Back: back, Only: 1 << StoreValue})
		add(Fault{Kind: Loss, For: p.Heal, Nodes: all, P: 0.1, Back: back, Only: 1 << LoadValue})
	}
	for at := p.MaxTTL; at < p.Heal*8/10; at += 2*p.quarantine() + d.below(4*p.MaxTTL) { // one node after the other
		add(Fault{Kind: pick(&d, Forget, Flush, Cut, CutOut), At: at, For: 1 + d.below(p.quarantine()), Nodes: 1 << d.n(p.N)})
	}
	return p
}

// drawNewNames draws the calls of the third kind.
func (p *Plan) drawNewNames(d *dice) {
	p.Names, p.Young = nil, true
	for c := range 2 + d.n(3) {
		p.Clients = append(p.Clients, ClientPlan{TTL: p.MaxTTL, Retry: 20 * time.Millisecond})
		p.Actors = append(p.Actors, Actor{ID: c, Client: c})
	}
	at, late := time.Second, d.hit(0.5)
	for i := range 30 {
		p.Names = append(p.Names, fmt.Sprintf("name%d", i))
		waits := d.hit(0.7)
		for c := range p.Actors {
			o := Op{At: at + d.below(p.Slow), Name: i, Wait: waits, Patience: 2 * p.MaxTTL, Hold: 1 + d.below(p.Slow), Values: 2}
			p.Actors[c].Ops = append(p.Actors[c].Ops, o)
		}
		if late {
			p.Faults = append(p.Faults, Fault{
				ID: i, Kind: Delay, P: 1, Only: 1 << LoadValue, At: at, For: d.between(p.Window, 3*p.Window), By: d.between(p.Window, 2*p.Window-4*p.Slow),
				Nodes: 1 << d.n(p.N), Clients: 1<<len(p.Clients) - 1,
			})
		}
		at += d.between(p.MaxTTL/2, p.MaxTTL)
	}
}

// drawForgotten draws the rounds of the second kind.
func (p *Plan) drawForgotten(d *dice) {
	const writer, idler, reader = 0, 1, 2
	p.N, p.Clocks = 3, append(p.Clocks[:0], 0, p.Window/8, -p.Window/8)
	for c := range 3 {
		p.Clients = append(p.Clients, ClientPlan{TTL: p.MaxTTL, Retry: 20 * time.Millisecond})
		p.Actors = append(p.Actors, Actor{ID: c, Client: c})
	}
	p.Actors[reader].Wish = []int{0}
	does := func(actor int, at time.Duration, values int) {
		o := Op{At: at, Wait: true, Patience: p.MaxTTL, Hold: 1 + d.below(p.Slow), Values: values}
		p.Actors[actor].Ops = append(p.Actors[actor].Ops, o)
	}
	add := func(kind Kind, at, lasts time.Duration, node, client int) {
		id := len(p.Faults)
		p.Faults = append(p.Faults, Fault{ID: id, Kind: kind, At: at + time.Duration(id), For: lasts, Nodes: 1 << node, Clients: 1 << client})
	}
	at := time.Second
	does(writer, at, 4)
	for range 16 {
		at += 2 * p.MaxTTL
		misses := d.n(3)
		forgets := (misses + 1 + d.n(2)) % 3
		add(Cut, at, 2*p.MaxTTL, misses, writer)
		does(writer, at+2*p.Timeout, 3)
		at += 3 * p.MaxTTL
		add(Flush, at, 0, forgets, 0)
		does(idler, at+p.Window+d.below(p.Window), 0) // it finds the loss
		at += p.quarantine() + p.MaxTTL
		add(Cut, at, 3*p.MaxTTL, 3-misses-forgets, reader)
		does(reader, at+2*p.Timeout, 3)
		does(reader, at+p.MaxTTL, 3)
		at += 3 * p.MaxTTL
	}
	p.Heal = at + p.MaxTTL
}
