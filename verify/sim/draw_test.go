package sim

import "testing"

// An operator who declares nodes durable states that they forget nothing and never evict. If a durable node of a plan
// forgot or evicted, the plan would break a promise that the protocol does not make.
func TestDurableWorldsDrawNothingThatDurableNodesDoNot(t *testing.T) {
	durable, restarts := 0, 0
	for seed := 1; seed <= 5000; seed++ {
		p := Draw(uint64(seed))
		if !p.Durable {
			for _, f := range p.Faults {
				if f.Kind == Boot {
					t.Errorf("seed %d: nodes that are not durable, and %+v", seed, f)
				}
			}
			continue
		}
		durable++
		for _, f := range p.Faults {
			switch f.Kind {
			case Forget, Partial, Evict:
				t.Errorf("seed %d: durable nodes, and %+v", seed, f)
			case Restart:
				restarts++
			}
		}
	}
	if durable == 0 || restarts == 0 {
		t.Errorf("%d durable worlds with %d restarts: nothing was looked at", durable, restarts)
	}
}
