package sim

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Crowd worlds check repair. One node misses a lease for which many clients wait, and then a minority of the other
// nodes gets sick. So the holder needs the node that missed the lease. The waiters ask that node for a partial grant
// all the time. The holder must still not lose the lease.

// isCrowd reports whether a seed makes a crowd world.
func isCrowd(seed uint64) bool {
	return !hasLatecomers(seed) && !isTight(seed) && !isHiccup(seed) && luck(seed, 'c', 'w')%32 == 0
}

// drawCrowd makes the plan of a crowd world: a few leases of client 0, and clients that wait for them.
func drawCrowd(seed uint64) *Plan {
	d := dice(luck(seed, 'c', 'p'))
	p := &Plan{Seed: seed, N: pick(&d, 3, 3, 5), Window: pick[time.Duration](&d, 100, 250) * time.Millisecond, Names: []string{"name0"}}
	shortest := 8 * p.Window
	p.MaxTTL = shortest * pick[time.Duration](&d, 1, 2, 4)
	p.Slow = p.Window / pick[time.Duration](&d, 50, 100, 200)
	p.Timeout = p.Window/4 + 8*p.Slow
	for range p.N { // without faults all nodes vote from the beginning
		p.Clocks = append(p.Clocks, d.between(-rightClocks(p.Window), rightClocks(p.Window)))
	}
	fair := d.hit(0.5)
	ttl := shortest + d.below(p.MaxTTL-shortest+1)
	valid := quorum.Validity(ttl, p.Window)
	for range d.n(16) + 4 {
		p.Clients = append(p.Clients, ClientPlan{TTL: ttl, Retry: 50 * time.Millisecond, Fair: fair})
	}
	holder, others, all := Actor{ID: 0}, uint32(1)<<len(p.Clients)-2, uint32(1)<<len(p.Clients)-1
	waiters := make([]Actor, len(p.Clients)-1)
	at := time.Second
	for range d.n(2) + 2 {
		// The holder asks before the waiters do. It does not reach the last node until other nodes have the lease.
		missed := Fault{ID: len(p.Faults), Kind: pick(&d, Cut, CutOut), At: at, For: d.between(valid/2, 2*valid), Nodes: 1 << (p.N - 1), Clients: 1}
		sick := Fault{ID: len(p.Faults) + 1, Kind: pick(&d, Hang, Cut, CutOut, CutBack), For: 3 * valid, Nodes: 1<<(p.N-1) - 1, Clients: all}
		sick.Nodes &^= 1<<(p.N/2) - 1 // the healthy nodes are a majority; one of them missed the lease
		sick.At = missed.At + missed.For - d.below(valid/4)
		hold := sick.At + sick.For - at
		p.Faults = append(p.Faults, missed, sick)
		holder.Ops = append(holder.Ops, Op{At: at + d.between(1, p.Window/4), Wait: d.hit(0.7), Hold: hold})
		for i := range waiters {
			waiters[i].Ops = append(waiters[i].Ops, Op{At: at + p.Window + d.below(missed.For), Wait: true, Hold: 1 + d.below(3*time.Millisecond)})
		}
		at += hold + ttl + 2*time.Second
	}
	p.Heal = at
	p.Actors = append(p.Actors, holder)
	for i, a := range waiters {
		a.ID, a.Client = i+1, i+1
		p.Actors = append(p.Actors, a)
	}
	// These faults do not affect the holder.
	for range d.n(3) {
		f := Fault{ID: len(p.Faults), Kind: pick(&d, Inbox, News, Delay), P: 0.2, At: d.below(p.Heal), Clients: others, Nodes: 1<<p.N - 1}
		f.For = 1 + d.below(p.Heal-f.At)
		if f.Kind == Inbox {
			f.For = 0
		}
		p.Faults = append(p.Faults, f)
	}
	return p
}
