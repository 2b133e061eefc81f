package values

import (
	"flag"
	"testing"
	"testing/synctest"
)

var (
	flagN    = flag.Int("values.n", 0, "run worlds with this many loads and stores together; 0: 100,000, and 5,000 with -short")
	flagSeed = flag.Uint64("values.seed", 0, "run the world of this seed, and nothing else")
)

// A value that a holder stored is found, and a value that was seen is never unseen, under faults. By hand:
//
//	go test ./verify/values -values.n 1000000 -timeout 1h
func TestAValueUnderALockIsKept(t *testing.T) {
	if *flagN == 0 {
		if *flagN = 100_000; testing.Short() {
			*flagN = 5_000
		}
	}
	var sum World
	for seed := max(*flagSeed, 1); sum.Loads+sum.Stores < *flagN; seed++ {
		var w *World
		var broken string
		synctest.Test(t, func(*testing.T) { w, broken = Run(seed) })
		if broken != "" {
			t.Fatalf("seed %d, %d nodes: %s", seed, len(w.models), broken)
		}
		sum.Loads, sum.Stores, sum.Failed, sum.Nones = sum.Loads+w.Loads, sum.Stores+w.Stores, sum.Failed+w.Failed, sum.Nones+w.Nones
		sum.Losses, sum.Killed = sum.Losses+w.Losses, sum.Killed+w.Killed
		if *flagSeed != 0 {
			break
		}
	}
	t.Logf("%d loads (%d found none), %d stores, %d without a result, %d losses of memory, %d holders killed", sum.Loads, sum.Nones, sum.Stores, sum.Failed, sum.Losses, sum.Killed)
	if *flagSeed == 0 && min(sum.Loads, sum.Nones, sum.Stores, sum.Failed, sum.Losses, sum.Killed) == 0 {
		t.Error("something never happened")
	}
}
