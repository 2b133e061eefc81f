package sim

import "testing"

// A world that breaks a promise is reduced to the parts that break it.
func TestAFailingPlanIsShrunk(t *testing.T) {
	alone(t)
	p := small(1)
	p.Broken.Taken = true
	whole := run(t, p, nil)
	fails := func(p *Plan) bool { return run(t, p, nil).Breaks(whole) }
	small := Shrink(p, 150, fails)
	t.Logf("from %d faults, %d actors, %d locks to %d, %d, %d",
		len(p.Faults), len(p.Actors), p.ops(), len(small.Faults), len(small.Actors), small.ops())
	if !fails(small) {
		t.Error("what is left of it does not fail")
	}
	if len(small.Actors) > 2 || small.ops() > 3 || len(small.Faults) > 0 {
		t.Errorf("it could be smaller: %s", small)
	}
}
