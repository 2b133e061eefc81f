package sample

import (
	"fmt"
	"testing"
)

// manyNames returns a State with 30,000 locks, and a semaphore and an election behind them.
func manyNames() *State {
	all := make([]Name, 0, 30_004)
	for i := range 30_000 {
		all = append(all, Name{Name: fmt.Sprintf("Order/%05d", i), Slot: -1, Kind: "lock", Known: true, Holders: []Holder{{Label: fmt.Sprint("web-", i%1000), Since: int64(i + 1)}}})
	}
	for slot := range 3 {
		all = append(all, Name{Name: "zgpu", Slot: slot, Kind: "semaphore", Known: true, Holders: []Holder{{Label: fmt.Sprint("worker-", slot), Since: 90_000}}})
	}
	all = append(all, Name{Name: "order/boss", Slot: -1, Kind: "election", Known: true})
	s := &State{At: 7, Total: len(all)}
	s.SetNames(all)
	return s
}

func TestASearchSeesAllNames(t *testing.T) {
	s := manyNames()
	if len(s.Names) != MostNames || s.Locks != 30_000 || s.Semaphores != 1 {
		t.Fatalf("%d names, %d locks, %d semaphores", len(s.Names), s.Locks, s.Semaphores)
	}
	if n := len(s.All()); n != 30_004 {
		t.Errorf("all are %d", n)
	}
	s.names[29_000].Waiters = 1
	for _, c := range []struct {
		what        string
		found       Found[Name]
		items, fits int
		first       string
	}{
		{"part of a name", s.FindLocks("order/2999", false), 10, 10, "Order/29990"},
		{"a holder", s.FindLocks("WEB-999", false), 30, 30, "Order/00999"},
		{"everything", s.FindLocks("", false), MostNames, 30_000, "Order/00000"},
		{"with waiters", s.FindLocks("", true), 1, 1, s.names[29_000].Name},
		{"nothing", s.FindLocks("none", false), 0, 0, ""},
		{"a slot", s.FindSlots("worker-1"), 3, 1, "zgpu"},
		{"a semaphore", s.FindSlots("ZG"), 3, 1, "zgpu"},
		{"one name", s.Find("zgpu"), 3, 3, "zgpu"},
		{"a part is no name", s.Find("Order/2999"), 0, 0, ""},
		{"before the first reading", (&State{}).FindLocks("", false), 0, 0, ""},
	} {
		f := c.found
		if len(f.Items) != c.items || f.Fits != c.fits || len(f.Items) > 0 && f.Items[0].Name != c.first {
			t.Errorf("%s: %d of %d, first %+v", c.what, len(f.Items), f.Fits, f.Items[:min(1, len(f.Items))])
		}
	}
}

// A reading of 30,000 locks and 10,000 jobs, which goes to each browser, has the first 500 of both.
func TestAReadingIsSmall(t *testing.T) {
	s := manyNames()
	jobs := make([]Job, 10_000)
	for i := range jobs {
		jobs[i] = Job{Name: fmt.Sprintf("nightly/report-%05d", i), State: "failed", Host: "web-3/4711", Tick: 1795998034445, Error: "exit status 3", Schedule: "CRON_TZ=Europe/Berlin 30 2 * * *"}
	}
	s.SetJobs(jobs)
	if n := len(s.JSON()); n > 350_000 {
		t.Errorf("the reading has %d bytes", n)
	} else {
		t.Logf("the reading has %d bytes", n)
	}
}

// BenchmarkASearch searches 30,000 locks.
func BenchmarkASearch(b *testing.B) {
	s := manyNames()
	for b.Loop() {
		s.FindLocks("order/2999", false)
	}
}
