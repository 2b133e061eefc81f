package virtual

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
)

// This is the same case in virtual time. Every node restarts many times.
func TestALeaseOutlivesManyRestartsOfEveryNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := nodeSet(5, 2*time.Second)
		servers, ways, runs := manyNodes(5, set), make([]*far, 5), 5
		steady := clock.Monotonic()
		for i, s := range servers {
			ways[i] = newFar(s, steady, time.Millisecond)
		}
		c := open(t, set, holdfast.Config{NodeTimeout: time.Second}, ways)
		defer c.Close()
		admin.Nodes(t.Context(), c)
		l := lock(t, c, "x")
		restart := func(i int) {
			runs++
			run := fmt.Sprintf("%040d", runs)
			servers[i].Restart(run, run, false)
			ways[i].cut.Store(false)
			for until := time.Now().Add(30 * time.Second); !hasLease(servers[i], l); time.Sleep(10 * time.Millisecond) {
				if err := context.Cause(l.Context()); err != nil {
					t.Fatalf("after %d restarts the lease was lost: %v", runs-5, err)
				}
				if time.Now().After(until) {
					t.Fatalf("restart %d: node %d does not join the lease", runs-5, i)
				}
			}
		}
		down := 0
		ways[down].cut.Store(true)
		for range 25 {
			next := (down + 1) % 5
			restart(next)
			restart(down)
			ways[next].cut.Store(true)
			down = next
		}
		if err := context.Cause(l.Context()); err != nil {
			t.Fatalf("lost: %v", err)
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// hasLease reports whether a modelled node has the record of l.
func hasLease(n *nodemodel.Node, l *holdfast.Lease) bool {
	for _, k := range n.Keys() {
		if k.Name == nodescript.RecordKey(l.Name()) {
			r, err := nodescript.ParseRecord(k.Text)
			return err == nil && r.Owner == l.Owner()
		}
	}
	return false
}
