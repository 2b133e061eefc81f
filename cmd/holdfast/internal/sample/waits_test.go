package sample

import (
	"fmt"
	"testing"
)

func TestTheLongestWaitsAreFew(t *testing.T) {
	s := whole()
	if w := s.LongestWaits(); len(w) != 0 {
		t.Errorf("nobody waits, but: %+v", w)
	}
	s.Names = []Name{
		{Name: "boss", Slot: -1, Kind: "election", Waiters: 1, Waiting: 1}, {Name: "report", Slot: -1, Kind: "job", Waiters: 1, Waiting: 1},
		{Name: "short", Slot: -1, Kind: "lock", Waiters: 1, Waiting: s.At - longWait}, {Name: "old", Slot: -1, Kind: "lock", Waiters: 1, Waiting: 1, Old: 2},
		{Name: "gpu", Slot: 0, Kind: "semaphore", Waiters: 1, Waiting: s.At - 50_000}, {Name: "gpu", Slot: 1, Kind: "semaphore", Waiters: 1, Waiting: s.At - 50_000},
	}
	if w := s.LongestWaits(); len(w) != 1 || w[0] != (Wait{"gpu", 50_000}) {
		t.Errorf("got %+v, want the semaphore once", w)
	}
	for i := range int64(100) {
		s.Names = append(s.Names, Name{Name: fmt.Sprint(i), Slot: -1, Kind: "lock", Waiters: 1, Waiting: s.At - 60_000 - i})
	}
	if w := s.LongestWaits(); len(w) != mostWaits || w[0].Name != "99" || w[9].Name != "90" {
		t.Errorf("got %+v, want the ten longest", w)
	}
	s.Error = tooFew
	if w := s.LongestWaits(); len(w) != 0 {
		t.Errorf("the names are not known, but: %+v", w)
	}
}
