package sim

import "time"

// Vacant worlds check that only a set that granted nothing skips its quarantines. Again and again a holder is cut off
// from all nodes, and some or all nodes restart without their memory. Clients come before and after the time at which
// the lease must have ended. The clock of one node of three was behind at its restart, so it seems to run for long.

// isVacant reports whether a seed makes a vacant world.
func isVacant(seed uint64) bool { return luck(seed, 'v', 'a')%64 == 0 }

// drawVacant makes the plan of a vacant world: a holder, and clients that come and go.
func drawVacant(seed uint64) *Plan {
	d := dice(luck(seed, 'v', 'n'))
	p := &Plan{Seed: seed, N: pick(&d, 1, 3, 3, 5), Window: pick[time.Duration](&d, 50, 100) * time.Millisecond, Names: []string{"name0"}}
	p.MaxTTL = 8 * p.Window * pick[time.Duration](&d, 3, 4)
	p.Slow = p.Window / pick[time.Duration](&d, 50, 100)
	p.Timeout = 2 * p.Window
	for range p.N {
		p.Clocks = append(p.Clocks, d.between(-p.Window/4, p.Window/4))
	}
	holder, all := Actor{ID: 0}, uint32(1)<<p.N-1
	for c := range 4 {
		p.Clients = append(p.Clients, ClientPlan{TTL: p.MaxTTL, Retry: 20 * time.Millisecond})
		if c > 0 {
			p.Actors = append(p.Actors, Actor{ID: c, Client: c, Wish: []int{0}})
		}
	}
	add := func(f Fault) {
		f.ID = len(p.Faults)
		f.At += time.Duration(f.ID)
		p.Faults = append(p.Faults, f)
	}
	at := time.Second
	for range 8 {
		holder.Ops = append(holder.Ops, Op{At: at, Wait: true, Patience: p.MaxTTL, Hold: p.MaxTTL})
		at += d.between(p.MaxTTL/8, p.MaxTTL/2)
		idle := p.quarantine() + d.between(p.Window, 2*time.Second) + time.Second
		// Nobody reaches the nodes meanwhile: neither the holder nor the others, who would find the loss.
		add(Fault{Kind: Cut, At: at - p.Window, For: idle + 2*p.MaxTTL, Nodes: all, Clients: 1})
		unseen := d.below(idle + p.MaxTTL)
		if d.hit(0.3) {
			unseen = d.below(p.MaxTTL)
		}
		add(Fault{Kind: Cut, At: at - p.Window, For: max(unseen, 1), Nodes: all, Clients: 14})
		restart := all
		if d.hit(0.4) {
			restart = 1 + uint32(d.n(int(all)))
		}
		for i := range p.N {
			if restart>>i&1 == 0 {
				continue
			}
			down := Fault{Kind: Forget, At: at + d.below(p.MaxTTL/4), For: 1 + d.below(p.Window), Nodes: 1 << i}
			if i == 0 && p.N > 1 && d.hit(0.7) {
				by := p.quarantine() + 3*time.Second
				add(Fault{Kind: Step, At: down.At, By: -by, Nodes: 1})
				add(Fault{Kind: Step, At: down.At + down.For + d.between(p.Window/8, p.Window), By: by, Nodes: 1})
			}
			add(down)
		}
		for c := range p.Actors {
			o := Op{At: at + unseen + d.below(p.Window), Hold: 1 + d.below(p.Window)}
			if d.hit(0.5) {
				o.At += d.below(p.MaxTTL)
			}
			p.Actors[c].Ops = append(p.Actors[c].Ops, o, Op{Pause: 1 + d.below(p.Window), Hold: 1 + d.below(p.Window)})
		}
		at += idle + 4*p.MaxTTL
	}
	p.Heal = at
	p.Actors = append([]Actor{holder}, p.Actors...)
	return p
}
