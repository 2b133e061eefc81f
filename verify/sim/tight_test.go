//go:build !race

package sim

import (
	"testing"
	"time"
)

// Tight worlds check the margin only while they are at the limit. If all reasons for the margin come together, the next
// holder gets the name shortly after the loss of the previous holder.
func TestTightWorldsLiveOnTheEdge(t *testing.T) {
	if testing.Short() {
		t.Skip("one world in sixty is at the limit, so a sample shows nothing; go test without -short runs all")
	}
	alone(t)
	var garbage collector
	nearest := map[int]float64{1: 9, 3: 9, 5: 9} // the shortest such time by number of nodes, in windows
	for seed, n := uint64(1), 0; n < 60; seed++ {
		if !isTight(seed) {
			continue
		}
		n++
		p := Draw(seed)
		r := run(t, p, nil)
		garbage.after(r)
		var lost time.Duration
		for _, e := range r.history.events {
			switch {
			case e.what == "lost":
				lost = e.at
			case e.what == "has token" && lost > 0:
				nearest[p.N] = min(nearest[p.N], float64(e.at-lost)/float64(p.Window))
				lost = 0
			}
		}
	}
	for n, most := range map[int]float64{1: 3.8, 3: 1.3, 5: 1.3} {
		if nearest[n] > most {
			t.Errorf("with %d nodes nobody had the name sooner than %.2f W after it was lost; want at most %.2f W", n, nearest[n], most)
		}
	}
	t.Logf("from a loss to the next lease it took %.2f W at least with one node, %.2f W with three, %.2f W with five", nearest[1], nearest[3], nearest[5])
}
