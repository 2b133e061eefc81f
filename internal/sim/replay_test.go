//go:build !race

package sim

import (
	"strings"
	"testing"
)

// One seed makes one history, to the nanosecond: without the race detector, under which the
// scheduler draws lots.
func TestASeedAlwaysMakesTheSameHistory(t *testing.T) {
	alone(t)
	var garbage collector
	worlds := 0
	for seed := uint64(1); worlds < 60; seed++ {
		worlds++
		first := run(t, Draw(seed), nil)
		again := run(t, Draw(seed), nil)
		if again.Digest != first.Digest {
			t.Errorf("seed %d: %x, then %x\n%s", seed, first.Digest, again.Digest, difference(first, again))
		}
		garbage.after(first)
		garbage.after(again)
	}
}

// difference is where two histories part.
func difference(a, b *Result) string {
	left, right := strings.Split(a.History(), "\n"), strings.Split(b.History(), "\n")
	for i := range min(len(left), len(right)) {
		if left[i] != right[i] {
			from := max(0, i-3)
			return strings.Join(left[from:min(len(left), i+3)], "\n") + "\n---\n" + strings.Join(right[from:min(len(right), i+3)], "\n")
		}
	}
	return "one is longer"
}
