//go:build linux

package chaos

import (
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// clockKinds are faults of servers' wall clocks.

var clockKinds = []kind{
	{name: "clock steps", needs: 3, begin: onClocks(false, 0.5, func(a *arena, r *rand.Rand, n *node) {
		n.server.Step(n.skew + a.leap(r))
		time.Sleep(between(r, 500*time.Millisecond, 6*time.Second))
	})},
	{name: "clock goes there and back", needs: 3, begin: onClocks(false, 0.5, func(a *arena, r *rand.Rand, n *node) {
		for range 3 + r.IntN(10) {
			n.server.Step(n.skew + a.leap(r))
			time.Sleep(between(r, 0, 300*time.Millisecond))
			n.server.Step(n.skew)
			time.Sleep(between(r, 0, 300*time.Millisecond))
		}
	})},
	{name: "clock too fast, too slow or still", needs: 3, begin: onClocks(false, 0.5, func(_ *arena, r *rand.Rand, n *node) {
		n.server.Rate([]float64{0, 0.5, 0.9, 1.1, 2, 10, 1000}[r.IntN(7)])
		time.Sleep(between(r, time.Second, 6*time.Second))
	})},
	// At each instant only a minority of the clocks is wrong. But an attempt is longer than an instant: its client
	// reads the clocks within a second, and nodes grant it within W. In that time a majority of the clocks may have
	// been wrong, one after the other. The stamp of the attempt then follows the wrong clocks, and the nodes with these
	// clocks grant it. The proof of exclusion needs a node with a right clock among the nodes that granted. So the lock
	// promises exclusion only if the clocks that were wrong at any time of an attempt are a minority.
	//
	// A stamp that is too low does no harm to a name that was locked before, and all names here were. A majority has
	// seen a higher token, and refuses the stamp without a look at its clock. A stamp that is too high stays on the
	// nodes as the token of the name. No client draws a higher stamp, so nobody gets the name until that time. So this
	// fault runs only if the run asks for it by name. Then the judges check beliefs and tokens as usual, but not how
	// soon a name is granted. The fault never made two clients hold one lock.
	{name: "wrong clocks take turns", needs: 3, outside: true, shuts: true, begin: inTurn},
	{name: "clocks of a majority step together", outside: true, begin: onClocks(true, 1, func(a *arena, r *rand.Rand, n *node) {
		n.server.Step(n.skew + between(r, -2*a.plan.TTL, 2*a.plan.TTL))
		time.Sleep(between(r, 3*time.Second, 5*time.Second))
	})},
	{name: "clocks of a majority step each its own way", outside: true, begin: onClocks(true, 0, func(a *arena, r *rand.Rand, n *node) {
		n.server.Step(n.skew + between(r, -2*a.plan.TTL, 2*a.plan.TTL))
		time.Sleep(between(r, 3*time.Second, 5*time.Second))
	})},
}

// leap returns the error of a wrong clock. Some errors are frequent, so that clocks that become wrong one after the
// other agree with each other.
func (a *arena) leap(r *rand.Rand) time.Duration {
	if r.IntN(3) == 0 {
		return between(r, -2*a.plan.TTL, 2*a.plan.TTL)
	}
	steps := []time.Duration{a.plan.Window / 2, a.plan.Window, 2 * a.plan.Window, a.plan.TTL, a.plan.TTL + a.plan.Window, time.Minute, time.Hour, 3 * time.Hour}
	d := steps[r.IntN(len(steps))]
	if r.IntN(2) == 0 {
		return -d
	}
	return d
}

// onClocks makes a fault of clocks. The fault hits a minority of the clocks, including the clocks that are wrong
// already, or a bare majority. With the probability alike, all clocks of the fault get the same error and agree with
// each other.
func onClocks(majority bool, alike float64, f func(*arena, *rand.Rand, *node)) func(*arena, *rand.Rand) *deed {
	return func(a *arena, r *rand.Rand) *deed {
		wrong := 0
		for _, n := range a.nodes {
			if n.busy.clock {
				wrong++
			}
		}
		most := (len(a.nodes)-1)/2 - wrong
		want := 1 + r.IntN(max(1, most))
		if majority {
			want, most = len(a.nodes)/2+1, len(a.nodes)-wrong
		}
		if want > most {
			return nil
		}
		taken := a.take(r, want, clockPart)
		struck, seeds := map[*node]node{}, map[*node]uint64{}
		seed, same := r.Uint64(), r.Float64() < alike
		for _, n := range taken {
			// struck contains copies of the nodes. During the fault another server may replace a node's server, and the
			// clock of the new server is right.
			if struck[n], seeds[n] = *n, seed; !same {
				seeds[n] = r.Uint64()
			}
		}
		return &deed{taken, func() bool {
			defer a.release(taken, clockPart)
			return each(taken, func(n *node) bool {
				s := struck[n]
				f(a, rand.New(rand.NewPCG(seeds[n], 0)), &s)
				s.server.Step(n.skew)
				return true
			})
		}}
	}
}

// inTurn makes a minority of the clocks wrong. Then at once it makes another minority wrong by the same amount, and so
// on. A majority is never wrong at one instant. But a client that remembers the last time of each clock sees a wrong
// majority.
func inTurn(a *arena, r *rand.Rand) *deed {
	for _, n := range a.nodes {
		if n.busy.clock {
			return nil
		}
	}
	taken := a.take(r, len(a.nodes), clockPart)
	servers := map[*node]*redistest.Server{}
	for _, n := range taken {
		servers[n] = n.server
	}
	return &deed{taken, func() bool {
		defer a.release(taken, clockPart)
		d, minority := a.leap(r), (len(taken)-1)/2
		for turn := range 4 + r.IntN(8) {
			var wrong []*node
			for i := range minority {
				wrong = append(wrong, taken[(turn*minority+i)%len(taken)])
			}
			for _, n := range wrong {
				servers[n].Step(n.skew + d)
			}
			time.Sleep(between(r, 0, []time.Duration{100 * time.Millisecond, 2 * time.Second}[r.IntN(2)]))
			for _, n := range wrong {
				servers[n].Step(n.skew)
			}
		}
		return true
	}}
}
