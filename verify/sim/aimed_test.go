//go:build !race

package sim

import "testing"

// Worlds that aim at one story tell it, and break no promise.
func TestAimedWorldsTellTheirStory(t *testing.T) {
	alone(t)
	for _, c := range []struct {
		what string
		is   func(seed uint64) bool
		draw func(seed uint64) *Plan
		tell func(*Tally) []int // counts that are not 0
	}{
		{"demotion", isDemotion, drawDemotion, func(t *Tally) []int {
			return []int{t.Outcomes[Downgraded], t.Outcomes[Extended], t.Outcomes[Lost], t.Outcomes[HeldByOther]}
		}},
		{"vacant", isVacant, drawVacant, func(t *Tally) []int {
			return []int{t.Outcomes[Skipped], t.Outcomes[Quarantined], t.Outcomes[Lost], t.Faults[Forget], t.Faults[Step], t.Faults[Cut]}
		}},
		{"scramble", isScramble, drawScramble, func(t *Tally) []int {
			return []int{t.Rare[SlotTaken], t.Rare[SlotsFull], t.Treated[Acquire][Repeated], t.Treated[Acquire][Reordered]}
		}},
		{"baton", isBaton, drawBaton, func(t *Tally) []int {
			return []int{t.Outcomes[Passed], t.Outcomes[LeftTaken], t.Treated[Acquire][Late], t.Treated[Release][Late], t.Treated[Leave][Late]}
		}},
		{"vault", isVault, drawVault, func(t *Tally) []int {
			return []int{t.Rare[ValueFound], t.Rare[ValueStored], t.Rare[ValueUnknown], t.Treated[StoreValue][Missed], t.Faults[Forget], t.Faults[Flush]}
		}},
		{"busy", isBusy, drawBusyWorld, func(t *Tally) []int {
			return []int{t.Faults[Busy], t.Outcomes[Lost], t.Outcomes[Renewed], t.Outcomes[Passed], t.Rare[ByDo], t.Rare[SetTaken], t.Faults[Cut]}
		}},
		{"late", isLate, drawLate, func(t *Tally) []int {
			return []int{t.Outcomes[Renewed], t.Outcomes[GrantedShared], t.Outcomes[Lost], t.Treated[Extend][Late], t.Faults[Blip], t.Faults[Cut]}
		}},
	} {
		var sum Tally
		for seed := range uint64(20) {
			r := run(t, c.draw(seed+1), nil)
			sum.Add(&r.Tally)
			for _, v := range r.Violations {
				t.Errorf("%s world %d: %s", c.what, seed+1, v)
			}
		}
		for i, n := range c.tell(&sum) {
			if n == 0 {
				t.Errorf("%s worlds: count %d is 0: the worlds are too kind", c.what, i)
			}
		}
		drawn := false
		for seed := uint64(1); seed <= 2000 && !drawn; seed++ {
			drawn = c.is(seed) && Draw(seed).String() == c.draw(seed).String()
		}
		if !drawn {
			t.Errorf("no seed up to 2000 makes a %s world", c.what)
		}
	}
}
