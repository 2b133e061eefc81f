package crowd

import (
	"flag"
	"testing"
	"testing/synctest"
)

var (
	flagN    = flag.Uint64("crowd.n", 150, "run this many worlds")
	flagSeed = flag.Uint64("crowd.seed", 0, "run the world of this seed, and nothing else")
)

// Whole clients that share a semaphore keep its promises under faults.
func TestCrowdsShareASemaphore(t *testing.T) {
	first, n := uint64(1), *flagN
	if *flagSeed != 0 {
		first, n = *flagSeed, 1
	}
	var sum World
	for seed := first; seed < first+n; seed++ {
		var w *World
		var broken string
		synctest.Test(t, func(*testing.T) { w, broken = Run(seed) })
		if broken != "" {
			t.Fatalf("seed %d, %d nodes, %d slots: %s", seed, len(w.models), w.k, broken)
		}
		sum.Leases, sum.Waits, sum.Lost, sum.Restarts = sum.Leases+w.Leases, sum.Waits+w.Waits, sum.Lost+w.Lost, sum.Restarts+w.Restarts
		sum.Most = max(sum.Most, w.Most)
	}
	t.Logf("%d worlds: %d leases, %d refusals of waiters, %d leases lost, %d losses of memory, %d holders at most", n, sum.Leases, sum.Waits, sum.Lost, sum.Restarts, sum.Most)
	if *flagSeed == 0 && min(sum.Leases, sum.Waits, sum.Lost, sum.Restarts) == 0 {
		t.Error("something never happened")
	}
}
