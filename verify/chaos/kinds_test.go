//go:build linux

package chaos

import (
	"slices"
	"testing"
)

// Two clients had one slot, and a client had a name of another client's set. The judges see both.
func TestSlotsAndSetsAreJudged(t *testing.T) {
	event := func(w what, at int64, name string, loop int) Event {
		return Event{What: w, At: at, Name: name, Loop: loop, Lease: 1, Token: at, Deadline: 90}
	}
	first := &process{id: 1, events: []Event{
		event(wants, 1, "lock-1", 0), event(has, 10, "lock-1.slot0", 0), event(over, 30, "lock-1.slot0", 0),
		event(wants, 1, "lock-2", 1), event(has, 10, "lock-2", 1), event(has, 10, "lock-5", 1+ofSets),
		event(over, 30, "lock-2", 1), event(over, 30, "lock-5", 1+ofSets),
	}}
	second := &process{id: 2, events: []Event{
		event(wants, 1, "lock-1", 0), event(has, 20, "lock-1.slot0", 0), event(over, 40, "lock-1.slot0", 0),
		event(wants, 1, "lock-1", 1), event(has, 20, "lock-1.slot1", 1), event(over, 40, "lock-1.slot1", 1),
		event(wants, 1, "lock-5", 2), event(has, 20, "lock-5", 2), event(over, 40, "lock-5", 2),
	}}
	all, wishes := first.beliefs(100)
	more, others := second.beliefs(100)
	names := byName(append(all, more...))
	for name, want := range map[string]int{"lock-1.slot0": 1, "lock-1.slot1": 0, "lock-2": 0, "lock-5": 1} {
		if got := len(overlaps(names[name])); got != want {
			t.Errorf("%s: %d overlaps, want %d", name, got, want)
		}
	}
	wishes = append(wishes, others...)
	if n := len(wishes); n != 5 || slices.ContainsFunc(wishes, func(w wish) bool { return !w.got || w.from != 1 || w.name == "lock-1.slot0" }) {
		t.Errorf("wishes %+v", wishes)
	}
}

// Every kind of lock has a share of the names, and the judges look at the data of every slot.
func TestNamesOfKinds(t *testing.T) {
	p := Plan{Locker: "kinds", Names: 6}.withDefaults()
	want := []string{"lock-0", "lock-1.slot0", "lock-1.slot1", "lock-1.slot2", "lock-2", "lock-3", "lock-4.slot0", "lock-4.slot1", "lock-4.slot2", "lock-5"}
	if got := p.locks(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if p.Locker = "holdfast"; !slices.Equal(p.locks(), p.names()) {
		t.Errorf("%q", p.locks())
	}
}
