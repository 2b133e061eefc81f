package sim

import "time"

// In orphan worlds a writer's client crashes while the writer waits, so its place in the queues has no owner. One
// client reads all the time. Other readers come after the crash. The nodes see that nobody listens to the writer's
// channel. So a reader that comes does not wait for the writer's place to expire, which the readers would keep alive
// for as long as they come.

// isOrphan reports whether a seed makes an orphan world.
func isOrphan(seed uint64) bool { return luck(seed, 'o', 'r')%64 == 0 }

// drawOrphan makes the plan of an orphan world.
func drawOrphan(seed uint64) *Plan {
	d := dice(luck(seed, 'o', 'p'))
	p := &Plan{Seed: seed, N: pick(&d, 1, 3, 3, 5), Window: pick[time.Duration](&d, 20, 50, 100) * time.Millisecond, Names: []string{"name0"}}
	p.MaxTTL = time.Duration(12+d.n(12)) * p.Window
	p.Slow = p.Window / 20
	p.Timeout = p.Window
	const writer, keeper = 0, 1 // clients; all others are readers that come later
	for range 3 + d.n(3) {
		p.Clients = append(p.Clients, ClientPlan{TTL: p.MaxTTL, Retry: 50 * time.Millisecond})
	}
	begin := time.Second + p.quarantine()
	comes := begin + p.MaxTTL + d.below(p.MaxTTL)
	crash := comes + time.Second + d.below(2*time.Second) // the writer is in every queue by then
	p.Heal = crash + 20*time.Second
	p.Actors = []Actor{
		{ID: writer, Client: writer, Ops: []Op{{At: comes, Wait: true}}},
		{ID: keeper, Client: keeper, Ops: []Op{{At: begin, Wait: true, Shared: true, Hold: p.Heal - begin}}},
	}
	p.Faults = []Fault{{ID: 0, Kind: Crash, At: crash, For: p.Heal - crash, Clients: 1 << writer}}
	for c := keeper + 1; c < len(p.Clients); c++ {
		a := Actor{ID: len(p.Actors), Client: c, Wish: []int{0}}
		for at := crash + d.between(3*p.Timeout, 3*time.Second); at < p.Heal-6*time.Second; at += d.between(time.Second, 3*time.Second) {
			a.Ops = append(a.Ops, Op{At: at, Wait: d.hit(0.7), Shared: true, Sure: true, Patience: 3 * time.Second, Hold: d.below(p.MaxTTL)})
		}
		p.Actors = append(p.Actors, a)
	}
	return p
}
