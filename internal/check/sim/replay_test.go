//go:build !race

package sim

import (
	"strings"
	"testing"
)

// One seed makes one history, to the nanosecond. With the race detector this is not so, because the detector makes the
// scheduler random.
func TestASeedAlwaysMakesTheSameHistory(t *testing.T) {
	alone(t)
	var garbage collector
	odd := 0
	for seed := uint64(1); seed <= 60; seed++ {
		first, again := run(t, Draw(seed), nil), run(t, Draw(seed), nil)
		garbage.after(first)
		garbage.after(again)
		if again.Digest == first.Digest {
			continue
		}
		// If the system stops this process for longer than a goroutine's time slice, the runtime may continue with
		// another goroutine. That is rare and does not happen in the same way again.
		t.Logf("seed %d: %x, then %x\n%s", seed, first.Digest, again.Digest, difference(first, again))
		third := run(t, Draw(seed), nil)
		if odd++; odd > 2 || third.Digest != first.Digest && third.Digest != again.Digest {
			t.Fatalf("seed %d has several histories, and it is not the only one", seed)
		}
	}
}

// difference returns the first difference between two histories.
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
