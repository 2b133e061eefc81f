package sim

import "time"

// Baton worlds check late answers. The goroutines of one client pass a lock on. A question of a waiter is under way
// when the lock passes to it, and its answer comes when the waiter has given the lock back. That answer must not
// release the lease once more: the release may overtake an Unlock, which then returns ErrLost, or an UnlockAt.

// isBaton reports whether a seed makes a baton world.
func isBaton(seed uint64) bool { return luck(seed, 'b', 't')%32 == 0 }

// drawBaton makes the plan of a baton world: a client with many goroutines, and a client with one.
func drawBaton(seed uint64) *Plan {
	d := dice(luck(seed, 'b', 'p'))
	p := &Plan{Seed: seed, N: pick(&d, 1, 1, 3), Window: pick[time.Duration](&d, 50, 100, 250) * time.Millisecond, Names: []string{"name0"}}
	p.MaxTTL = 8 * p.Window * pick[time.Duration](&d, 2, 3)
	p.Slow = p.Window / pick[time.Duration](&d, 50, 100)
	p.Timeout = 4 * p.Window
	for range p.N { // without faults all nodes vote from the beginning
		p.Clocks = append(p.Clocks, d.between(-p.Window/4, p.Window/4))
	}
	rush := 4 * p.Window
	for c, actors := range []int{4 + d.n(3), 1} {
		p.Clients = append(p.Clients, ClientPlan{TTL: p.MaxTTL, Retry: 20 * time.Millisecond})
		for range actors {
			a := Actor{ID: len(p.Actors), Client: c}
			for range 10 {
				o := Op{Pause: 1 + d.below(p.Window), Rush: rush, Wait: true, Hold: 1 + d.below(pick(&d, p.Slow, p.Window/4))}
				if d.hit(0.2) {
					o.Left = 4*p.Window + d.below(4*p.Window)
				}
				a.Ops = append(a.Ops, o)
			}
			p.Actors = append(p.Actors, a)
		}
	}
	p.Actors[0].Wish = []int{0}
	p.Heal = 40 * rush
	for range 4 {
		f := Fault{ID: len(p.Faults), Kind: Delay, Back: true, Only: 1 << Acquire, P: 0.3, By: d.between(4*p.Slow, p.Window)}
		p.Faults = append(p.Faults, f)
		f = Fault{ID: len(p.Faults), Kind: Delay, Only: 1<<Release | 1<<Leave, P: 0.3, By: d.between(4*p.Slow, p.Window)}
		p.Faults = append(p.Faults, f)
	}
	for i := range p.Faults {
		p.Faults[i].For, p.Faults[i].Nodes, p.Faults[i].Clients = p.Heal*9/10, 1<<p.N-1, 1
		p.Faults[i].At = time.Duration(i)
	}
	return p
}
