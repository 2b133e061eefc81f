package e2e

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// After a move the servers need a moment until most of them name the new owner of a hash slot. Calls wait for that.
func TestCallsWaitUntilTheServersAgreeOnAMovedSlot(t *testing.T) {
	t.Parallel()
	cl := newCluster(t, 2, 0)
	c := cl.client(func(cfg *holdfast.Config) {
		cfg.NodeTimeout, cfg.MaxTTL, cfg.Window = 5*time.Second, 10*time.Second, time.Second
	})
	l := lock(t, c, "x")
	for i := range 50 { // the differences of the clocks of the moves add up
		cl.move(cl.other("x"), "x")
		if err := l.Extend(t.Context(), 10*time.Second); err != nil {
			t.Fatalf("after move %d: %v", i, err)
		}
	}
	if err := l.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}
