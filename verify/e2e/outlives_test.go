package e2e

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
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// In these tests two nodes of five are always down or without memory, and the lease lives on.

// A node that restarted without its memory joins the lease at a renewal after its quarantine. After that the next node
// may restart.
func TestALeaseOutlivesEveryNode(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	c := s.ready(s.client(func(c *holdfast.Config) { c.MaxTTL, c.TTL = 3*time.Second, 3*time.Second }))
	l := lock(t, c, "x")
	down, rounds := 0, inShort(5, 1)
	s.servers[down].Kill()
	for range rounds {
		next := (down + 1) % 5
		s.servers[next].Kill()
		s.servers[next].Restart() // it is empty, so now three nodes of five have the lease
		joins(t, s, next, l)
		s.servers[down].Restart() // this node also joins before the next node goes down
		joins(t, s, down, l)
		s.servers[next].Kill()
		down = next
	}
	stillHeld(t, l)
}

// This is the same case in virtual time. Every node restarts many times.
func TestALeaseOutlivesManyRestartsOfEveryNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 5, MaxTTL: 2 * time.Second, Window: 250 * time.Millisecond, Cluster: "test"}
		servers, ways, runs := manyNodes(t, 5, set), make([]*far, 5), 5
		var nodes []node.Node
		steady := clock.Monotonic()
		for i, s := range servers {
			ways[i] = &far{Node: s, clock: steady, connections: make(chan struct{}, node.MaxCalls)}
			ways[i].there.Store(int64(time.Millisecond))
			nodes = append(nodes, ways[i])
		}
		c, err := holdfast.New(holdfast.Config{Nodes: nodes, MaxTTL: set.MaxTTL, TTL: set.MaxTTL, Window: set.Window,
			NodeTimeout: time.Second, Cluster: set.Cluster, Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
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
		stillHeld(t, l)
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

// joins waits until a server has the record of l.
func joins(t *testing.T, s *set, i int, l *holdfast.Lease) {
	t.Helper()
	redistest.Eventually(t, 30*time.Second, "the node to join the lease", func() bool {
		if err := context.Cause(l.Context()); err != nil {
			t.Fatalf("the lease was lost: %v", err)
		}
		r, ok := s.record(i, l.Name())
		return ok && r.Owner == l.Owner()
	})
}

// stillHeld fails the test if l was lost, and releases it.
func stillHeld(t *testing.T, l *holdfast.Lease) {
	t.Helper()
	if err := context.Cause(l.Context()); err != nil {
		t.Fatalf("lost: %v", err)
	}
	if err := l.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}
