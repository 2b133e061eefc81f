package sim

import "testing"

// A holder that reaches a majority of the nodes keeps its lease, even if many clients wait for the name: see crowd.go.
func TestALeaseBehindWhichManyWaitIsRepaired(t *testing.T) {
	alone(t)
	worlds := uint64(50)
	if raced || testing.Short() {
		worlds = 10
	}
	var garbage collector
	lost, reaches := 0, 0
	for seed := range worlds {
		p := drawCrowd(seed + 1)
		r := run(t, p, nil)
		garbage.after(r)
		reaches += r.Tally.Outcomes[Repaired]
		if len(r.Violations) > 0 {
			lost++
			t.Errorf("crowd world %d: %s", seed+1, r.Violations[0])
		}
	}
	t.Logf("%d of %d worlds lost a lease; %d repairs", lost, worlds, reaches)
	if reaches == 0 {
		t.Error("no lease was repaired: the worlds are too kind")
	}
}
