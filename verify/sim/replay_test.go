//go:build !race && unix

package sim

import (
	"strings"
	"syscall"
	"testing"
)

// One seed makes one history, to the nanosecond. With the race detector this is not so, because the detector makes the
// scheduler random.
//
// If the system stops this process for longer than a goroutine's time slice, the runtime may continue with another
// goroutine. That is rare and does not happen in the same way again. So if two histories of a seed differ, the seed is
// run more often, and three quarters of its runs must make the same history. If they do not, only further runs count
// that the system never stopped. A program with a random order of events does not reach that. A busy machine may leave
// too few such runs. Then the seed is not judged, and most seeds must be.
func TestASeedAlwaysMakesTheSameHistory(t *testing.T) {
	alone(t)
	var garbage collector
	seeds := uint64(60)
	if testing.Short() {
		seeds = 10
	}
	unjudged := uint64(0)
	for seed := uint64(1); seed <= seeds; seed++ {
		again := func() (r *Result, whole bool) {
			before := stops(t)
			r = run(t, Draw(seed), nil)
			whole = stops(t) == before
			garbage.after(r)
			return r, whole
		}
		first, _ := again()
		second, _ := again()
		if first.Digest == second.Digest {
			continue
		}
		t.Logf("seed %d: %x, then %x\n%s", seed, first.Digest, second.Digest, difference(first, second))
		const runs = 12
		all, whole := counts{}, counts{}
		all.add(first)
		all.add(second)
		for i := 0; i < 4*runs && whole.sum() < runs; i++ {
			r, w := again()
			all.add(r)
			if w {
				whole.add(r)
			}
			if all.sum() == runs && all.agrees() {
				break
			}
		}
		switch {
		case all.sum() == runs && all.agrees(), whole.sum() >= runs && whole.agrees():
		case whole.sum() >= runs:
			t.Fatalf("seed %d has several histories: of %d runs that the system did not stop, so many made the same: %v", seed, whole.sum(), whole)
		default:
			unjudged++
		}
	}
	if unjudged > seeds/4 {
		t.Fatalf("%d of %d seeds made several histories, and the system stopped nearly all of their runs", unjudged, seeds)
	}
}

// counts has the number of runs by their history.
type counts map[uint64]int

func (c counts) add(r *Result) { c[r.Digest]++ }

func (c counts) sum() (n int) {
	for _, k := range c {
		n += k
	}
	return n
}

// agrees reports whether three quarters of the runs made the same history.
func (c counts) agrees() bool {
	most := 0
	for _, k := range c {
		most = max(most, k)
	}
	return most*4 >= c.sum()*3
}

// stops returns how often the system stopped a thread of this process for another process.
func stops(t *testing.T) int64 {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return int64(used.Nivcsw)
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
