package e2e

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// After a move the servers need a moment until most of them name the new owner of a hash slot. Calls wait for that.
func TestCallsWaitUntilTheServersAgreeOnAMovedSlot(t *testing.T) {
	t.Parallel()
	w := &ward{t: t, cluster: redistest.StartCluster(t, 2, 0)}
	c := clusterClient(t, w.cluster, func(cfg *holdfast.Config) { cfg.NodeTimeout = 5 * time.Second })
	l := lock(t, c, "x")
	for i := range 100 {
		if err := w.move(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		if err := l.Extend(t.Context(), 10*time.Second); err != nil {
			t.Fatalf("after move %d: %v", i, err)
		}
	}
	if err := l.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}
