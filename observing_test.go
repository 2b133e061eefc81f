package holdfast

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/async"
)

// The metrics forget a client at its last event. A slow observer must get it, too.
func TestASlowObserverLearnsThatItsClientClosed(t *testing.T) {
	t.Parallel()
	c := &Client{}
	var kinds []EventKind
	begun, end := make(chan struct{}), make(chan struct{})
	box := async.NewMailbox(2, func(e *Event) {
		if len(kinds) == 0 {
			close(begun)
			<-end
		}
		kinds = append(kinds, e.Kind)
	}, func(n int) *Event { return &Event{Kind: EventMissed, Missed: n} })
	c.observers = append(c.observers, box)
	c.openObservers()
	<-begun
	for range 5 {
		box.Put(c.event(EventAcquired))
	}
	c.closeObservers(time.Now()) // the observer still hangs
	close(end)
	if !box.Wait(time.Minute) {
		t.Fatal("the events are not delivered")
	}
	if want := []EventKind{EventOpened, EventAcquired, EventAcquired, EventMissed, EventClosed}; !slices.Equal(kinds, want) {
		t.Errorf("the observer got %d, want %d", kinds, want)
	}
}
