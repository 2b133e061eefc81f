package bids

import (
	"flag"
	"testing"
)

var (
	flagN    = flag.Uint64("bids.n", 0, "explore this many worlds; 0: 3,000, and 1,000 with -short")
	flagSeed = flag.Uint64("bids.seed", 0, "explore the world of this seed, and nothing else")
)

// seeds returns the first seed and the number of worlds to explore.
func seeds() (first, n uint64) {
	switch {
	case *flagSeed != 0:
		return *flagSeed, 1
	case *flagN != 0:
		return 1, *flagN
	case testing.Short():
		return 1, 1000
	}
	return 1, 3000
}

// Bids keep their promises under any order of messages: one holder at a time, growing tokens, a winner when messages
// flow, and nothing left behind.
func TestBidsKeepTheirPromises(t *testing.T) {
	first, n := seeds()
	var sum World
	for seed := first; seed < first+n; seed++ {
		w, broken := Explore(seed)
		if broken != "" {
			t.Fatalf("seed %d, %d nodes, TTL %s: %s", seed, len(w.servers), w.ttl, broken)
		}
		sum.Won, sum.Passed, sum.Handoffs = sum.Won+w.Won, sum.Passed+w.Passed, sum.Handoffs+w.Handoffs
		sum.Shared += w.Shared
		sum.Lost, sum.Repeated = sum.Lost+w.Lost, sum.Repeated+w.Repeated
	}
	t.Logf("%d worlds: %d leases, %d passes, %d hand-offs, %d messages lost, %d repeated, %d leases beside another", n, sum.Won, sum.Passed, sum.Handoffs, sum.Lost, sum.Repeated, sum.Shared)
	if *flagSeed == 0 && min(sum.Won, sum.Passed, sum.Handoffs, sum.Lost, sum.Repeated, sum.Shared) == 0 {
		t.Error("something never happened")
	}
}

// Bids for the slots of a semaphore keep the promises of a lock for each slot, and no slot stays unused while somebody
// waits.
func TestBidsForSlotsKeepTheirPromises(t *testing.T) {
	first, n := seeds()
	var sum World
	for seed := first; seed < first+n; seed++ {
		w, broken := ExploreSlots(seed)
		if broken != "" {
			t.Fatalf("seed %d, %d nodes, TTL %s: %s", seed, len(w.servers), w.ttl, broken)
		}
		sum.Won, sum.Passed, sum.Handoffs = sum.Won+w.Won, sum.Passed+w.Passed, sum.Handoffs+w.Handoffs
		sum.Lost, sum.Repeated, sum.Moved = sum.Lost+w.Lost, sum.Repeated+w.Repeated, sum.Moved+w.Moved
	}
	t.Logf("%d worlds: %d leases, %d passes, %d hand-offs, %d moves, %d messages lost, %d repeated", n, sum.Won, sum.Passed, sum.Handoffs, sum.Moved, sum.Lost, sum.Repeated)
	if *flagSeed == 0 && min(sum.Won, sum.Passed, sum.Handoffs, sum.Moved, sum.Lost, sum.Repeated) == 0 {
		t.Error("something never happened")
	}
}

// A world depends on nothing but its seed.
func TestAWorldRepeats(t *testing.T) {
	for seed := range uint64(50) {
		a, _ := Explore(seed)
		b, _ := Explore(seed)
		if a.tokens[0] != b.tokens[0] || a.Won != b.Won || a.Handoffs != b.Handoffs || a.Lost != b.Lost || a.rng.Uint64() != b.rng.Uint64() {
			t.Fatalf("seed %d has two histories", seed)
		}
	}
}
