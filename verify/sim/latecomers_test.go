//go:build !race

package sim

import "testing"

// Requests of admission and vouchers from before a loss neither begin nor shorten a quarantine.
func TestLatecomersShortenNoQuarantine(t *testing.T) {
	alone(t)
	var sum Tally
	for seed, n := uint64(1), 0; n < 100; seed++ {
		if !hasLatecomers(seed) {
			continue
		}
		n++
		r := run(t, Draw(seed), nil)
		sum.Add(&r.Tally)
		for _, v := range r.Violations {
			t.Errorf("seed %d: %s", seed, v)
		}
	}
	if sum.Faults[Latecomers] == 0 || sum.Faults[Crossing] == 0 || sum.Rare[TrustNodes] == 0 {
		t.Errorf("%d requests came late, %d after a restart, %d vouchers were left", sum.Faults[Latecomers], sum.Faults[Crossing], sum.Rare[TrustNodes])
	}
	t.Logf("%d requests came late, %d after a restart, %d vouchers were left, %d attempts", sum.Faults[Latecomers], sum.Faults[Crossing], sum.Rare[TrustNodes], sum.Attempts)
}
