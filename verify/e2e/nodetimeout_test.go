package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// Drivers and client libraries have their own timeouts. A longer NodeTimeout must still take effect.
func TestNodeTimeoutIsWhatWasSet(t *testing.T) {
	t.Parallel()
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 1)
			nodes, err := d.open(s.urls...)
			if err != nil {
				t.Fatal(err)
			}
			c := s.ready(s.client(func(c *holdfast.Config) {
				c.Nodes, c.MaxTTL, c.Window, c.NodeTimeout = nodes, 20*time.Second, time.Second, 12*time.Second
			}))
			l := lock(t, c, "x")
			s.servers[0].MustDo(t, "CLIENT", "PAUSE", 5500, "ALL")
			began := time.Now()
			if err := l.Unlock(context.Background()); err != nil {
				t.Errorf("NodeTimeout is 12 s, the server answered after 5.5 s, and Unlock returned after %s: %v", time.Since(began), err)
			}
		})
	}
}
