package holdfast_test

import (
	"testing"

	"github.com/holdfast-go/holdfast"
)

// A log of events has words and not numbers. Each kind has a word of its own.
func TestEachKindOfEventHasAWord(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{"": true}
	for k := holdfast.EventOpened; k <= holdfast.EventDelay; k++ {
		if seen[k.String()] {
			t.Errorf("kind %d is %q", uint8(k), k)
		}
		seen[k.String()] = true
	}
	for k, want := range map[holdfast.EventKind]string{
		holdfast.EventOpened: "opened", holdfast.EventLost: "lost", holdfast.EventDelay: "delay", 14: "EventKind(14)", 255: "EventKind(255)",
	} {
		if got := k.String(); got != want {
			t.Errorf("kind %d is %q, want %q", uint8(k), got, want)
		}
	}
}
