package events

import (
	"slices"
	"testing"
)

func TestAnEventReachesTheListenersOfItsKindInOrder(t *testing.T) {
	var s Stream
	var got []string
	for _, who := range []string{"first", "second"} {
		s.On(Lost, func(e *Event) { got = append(got, who+" "+e.Name) })
	}
	s.On(Renewed, func(e *Event) { t.Errorf("a listener for renewals got %+v", e) })
	s.Emit(Event{Kind: Lost, Name: "x"})
	if want := []string{"first x", "second x"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !s.Wanted(Lost) || s.Wanted(Released) {
		t.Error("Wanted does not name the kinds that have a listener")
	}
}

func TestANilStreamDeliversNothing(t *testing.T) {
	var s *Stream
	if s.Wanted(Lost) {
		t.Error("somebody wants events of a nil stream")
	}
	s.Emit(Event{Kind: Lost})
}
