//go:build !race

package sim

import (
	"strings"
	"testing"
)

// One seed makes one history, to the nanosecond. With the race detector this is not so, because the detector makes the
// scheduler random.
//
// If the system stops this process for longer than a goroutine's time slice, the runtime may continue with another
// goroutine. That is rare and does not happen in the same way again. So if two histories of a seed differ, the seed is
// run more often, and three quarters of its runs must make the same history. A program with a random order of events
// does not reach that.
func TestASeedAlwaysMakesTheSameHistory(t *testing.T) {
	alone(t)
	var garbage collector
	seeds := uint64(60)
	if testing.Short() {
		seeds = 20
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		digests, most := map[uint64]int{}, 0
		again := func() *Result {
			r := run(t, Draw(seed), nil)
			garbage.after(r)
			digests[r.Digest]++
			most = max(most, digests[r.Digest])
			return r
		}
		first, second := again(), again()
		if first.Digest == second.Digest {
			continue
		}
		t.Logf("seed %d: %x, then %x\n%s", seed, first.Digest, second.Digest, difference(first, second))
		const runs = 12
		for range runs - 2 {
			again()
		}
		if most < runs*3/4 {
			t.Fatalf("seed %d has several histories: only %d of %d runs made the same", seed, most, runs)
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
