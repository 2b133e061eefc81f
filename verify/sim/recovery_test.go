package sim

import (
	"testing"
	"time"
)

// evicting returns a world of one node, which starts to evict keys just before the healing. A wish then waits for a
// quarantine, which is longer than the time that the judge allows a node that votes.
func evicting(id int, faults ...Fault) *Plan {
	p := small(uint64(id))
	p.N, p.MaxTTL, p.Window, p.Heal = 1, 3*time.Second, 250*time.Millisecond, 7*time.Second
	p.Clients, p.Actors = p.Clients[:1], p.Actors[:1]
	p.Clients[0].TTL = 2 * time.Second
	p.Actors[0].Ops = []Op{{At: 200 * time.Millisecond, Hold: 1}, {At: time.Second, Wait: true, Patience: time.Second, Hold: 1}}
	p.Faults = append(faults, Fault{ID: id, Kind: Evict, At: p.Heal - time.Second, Nodes: 1})
	return p
}

// A node that evicted keys since its admission begins a quarantine when a client finds the loss. The guard and the end
// of the last quarantine do not change that. Recovery counts from the end of the new quarantine.
func TestRecoveryCountsFromWhenAnEvictionIsFound(t *testing.T) {
	alone(t)
	restart := Fault{ID: 99, Kind: Restart, At: 500 * time.Millisecond, For: 100 * time.Millisecond, Nodes: 1}
	for name, before := range map[string][]Fault{"while it votes": nil, "after a quarantine": {restart}} {
		t.Run(name, func(t *testing.T) {
			found := 0
			for id := 1; id <= 20; id++ {
				r := run(t, evicting(id, before...), nil)
				for _, v := range r.Violations {
					t.Errorf("fault %d: %s", id, v)
				}
				if time.Duration(r.Tally.Recoveries[1].LongestM)*time.Millisecond > 3*time.Second {
					found++
				}
			}
			if found == 0 {
				t.Error("no node was found to have evicted")
			}
		})
	}
}
