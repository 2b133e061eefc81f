package e2e

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// EventClosed is the last event, also if calls return after it. An observer that has forgotten the client would
// otherwise meet it again.
func TestNoEventFollowsTheLastOne(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	other := s.client()
	if _, err := other.Mutex("x").Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, w := s.watched()
	if _, err := c.Mutex("x", holdfast.OnWait(func(error) { c.Close() })).Lock(t.Context()); err == nil {
		t.Fatal("a lock after Close")
	}
	w.await(t, holdfast.EventClosed, 1)
	by := time.Now().Add(500 * time.Millisecond) // an event reaches its observer after a millisecond
	var last *holdfast.Event
	redistest.Eventually(t, 10*time.Second, "late events", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		last = w.seen[len(w.seen)-1]
		return last.Kind != holdfast.EventClosed || time.Now().After(by)
	})
	if last.Kind != holdfast.EventClosed {
		t.Errorf("event %d came after EventClosed: %+v", last.Kind, last)
	}
}
