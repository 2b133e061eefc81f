package sim

import "time"

// Scramble worlds check late questions about slots. Many bids want few slots at the same moment, so bids move from slot
// to slot and back. Requests come twice, or late. A question for a slot from which a bid has moved must not end a later
// grant.

// isScramble reports whether a seed makes a scramble world.
func isScramble(seed uint64) bool { return luck(seed, 's', 'c')%24 == 0 }

// drawScramble makes the plan of a scramble world: clients that want slots at the same moments.
func drawScramble(seed uint64) *Plan {
	d := dice(luck(seed, 's', 'p'))
	p := &Plan{Seed: seed, N: pick(&d, 1, 3, 3, 5), Window: pick[time.Duration](&d, 50, 100, 250) * time.Millisecond, Names: []string{"name0"}}
	p.Slots = []int{pick(&d, 2, 2, 3, 4)}
	p.MaxTTL = 8 * p.Window * pick[time.Duration](&d, 1, 2)
	p.Slow = p.Window / pick[time.Duration](&d, 20, 50, 100)
	p.Timeout = p.Window/2 + 8*p.Slow
	for range p.N { // without faults all nodes vote from the beginning
		p.Clocks = append(p.Clocks, d.between(-rightClocks(p.Window)/2, rightClocks(p.Window)/2))
	}
	rush, fair := pick[time.Duration](&d, 2, 4)*p.Window, d.hit(0.5)
	for c := range p.Slots[0] + 1 + d.n(5) {
		p.Clients = append(p.Clients, ClientPlan{TTL: p.MaxTTL, Retry: 20 * time.Millisecond, Fair: fair})
		a := Actor{ID: c, Client: c}
		for range 12 {
			o := Op{Pause: 1 + d.below(p.Window), Rush: rush, Slot: true, Wait: d.hit(0.5), Hold: d.between(p.Window/4, 3*p.Window)}
			if o.Wait {
				o.Patience = d.between(p.Window, 8*p.Window)
			}
			a.Ops = append(a.Ops, o)
		}
		p.Actors = append(p.Actors, a)
	}
	p.Actors[0].Wish = []int{0}
	p.Heal = 24 * rush
	all := uint32(1)<<len(p.Clients) - 1
	for id, k := range []Kind{Duplicate, Delay} { // questions come twice within a window, and messages take half a window
		f := Fault{ID: id, Kind: k, At: time.Duration(id), For: p.Heal * 9 / 10, Nodes: 1<<p.N - 1, Clients: all, P: 0.7, By: p.Window, Only: 1 << Acquire}
		if k == Delay {
			f.P, f.By, f.Only, f.Back = pick(&d, 0.1, 0.3), d.between(p.Slow, p.Window/2), 0, d.hit(0.5)
		}
		p.Faults = append(p.Faults, f)
	}
	return p
}
