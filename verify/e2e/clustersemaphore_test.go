package e2e

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
)

// The slots of a semaphore are in one hash slot of a Redis Cluster, also for those who only look.
func TestASemaphoreOnAClusterIsSeen(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0).client(func(cfg *holdfast.Config) { cfg.NodeTimeout = 5 * time.Second })
	for _, name := range []string{"a", "b", "{b}c"} {
		l, err := c.Semaphore(name, 2, holdfast.WaitThroughOutages()).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer l.Unlock(t.Context())
		if s, err := c.Semaphore(name, 2).Status(t.Context()); err != nil || s.Holder().Owner != l.Owner() {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	held := 0
	for s, err := range admin.List(t.Context(), c, admin.ListOptions{Free: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Held && s.Known && s.Slot >= 0 {
			held++
		}
	}
	if held != 3 {
		t.Errorf("the list has %d semaphores that are held", held)
	}
}
