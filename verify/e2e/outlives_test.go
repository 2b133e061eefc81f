package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
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
