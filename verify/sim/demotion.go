package sim

import "time"

// Demotion worlds check a writer's lease after the writer became a reader. The writer first shortens its TTL by Extend.
// Extend does not make the deadline of the lease earlier. After the downgrade the writer cannot reach the nodes any
// more. Until the old deadline no writer may get the name. Some writers call Extend during the downgrade. It must
// succeed before they are cut off.

// isDemotion reports whether a seed makes a demotion world.
func isDemotion(seed uint64) bool { return luck(seed, 'd', 'e')%64 == 0 }

// drawDemotion makes the plan of a demotion world: a few leases of client 0, and clients that try to write.
func drawDemotion(seed uint64) *Plan {
	d, renewers := dice(luck(seed, 'd', 'p')), dice(luck(seed, 'd', 'r'))
	p := &Plan{Seed: seed, N: pick(&d, 1, 3, 3, 5), Window: pick[time.Duration](&d, 50, 100, 250) * time.Millisecond, Names: []string{"name0"}}
	p.MaxTTL = 8 * p.Window * pick[time.Duration](&d, 3, 4, 6)
	p.Slow = p.Window / pick[time.Duration](&d, 50, 100, 200)
	p.Timeout = p.Window/2 + 8*p.Slow
	for range p.N { // without faults all nodes vote from the beginning
		p.Clocks = append(p.Clocks, d.between(-rightClocks(p.Window), rightClocks(p.Window)))
	}
	for range 3 {
		p.Clients = append(p.Clients, ClientPlan{TTL: p.MaxTTL, Retry: 50 * time.Millisecond})
	}
	writer, rivals, at := Actor{ID: 0}, []Actor{{ID: 1, Client: 1}, {ID: 2, Client: 2}}, time.Second
	for range d.n(2) + 2 {
		hold := d.between(p.MaxTTL/2, p.MaxTTL)
		extends := at + hold/2
		becomes := extends + hold/4
		o := Op{At: at, Wait: true, Hold: hold, Extend: 8 * p.Window, Down: true}
		if d.hit(0.2) {
			o.Extend = 0
		}
		if renewers.hit(0.5) {
			o.Renewers = 1 + renewers.n(4)
			becomes += 2 * p.Window
		}
		writer.Ops = append(writer.Ops, o)
		cut := Fault{ID: len(p.Faults), Kind: pick(&d, Cut, CutOut), At: becomes + 4*p.Slow + d.below(2*p.Window), For: p.MaxTTL, Nodes: 1<<p.N - 1, Clients: 1}
		p.Faults = append(p.Faults, cut)
		for i := range rivals {
			rivals[i].Ops = append(rivals[i].Ops, Op{At: cut.At + 6*p.Window + d.below(p.Window)})
			for range 40 {
				rivals[i].Ops = append(rivals[i].Ops, Op{Pause: d.between(p.Window/8, p.Window), Hold: d.below(p.Window)})
			}
		}
		at = cut.At + 2*p.MaxTTL
	}
	p.Heal, rivals[0].Wish = at, []int{0}
	p.Actors = append([]Actor{writer}, rivals...)
	return p
}
