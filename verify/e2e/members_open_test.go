//go:build open

package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// A client with another list looks once at a node set in which one node just restarted.
func TestOpenOneReportShutsASet(t *testing.T) {
	s := newSet(t, 5)
	long := func(c *holdfast.Config) { c.MaxTTL, c.TTL = 10*time.Second, 10*time.Second }
	open := func(which ...int) *holdfast.Client {
		return s.client(long, func(c *holdfast.Config) {
			var urls []string
			for _, i := range which {
				urls = append(urls, s.urls[i])
			}
			nodes, err := rueidisnode.Open(urls...)
			if err != nil {
				s.t.Fatal(err)
			}
			c.Nodes = nodes
		})
	}
	a := s.ready(open(0, 1, 2))
	l := lock(t, a, "x")
	time.Sleep(time.Second)
	s.servers[0].Kill()
	s.servers[0].Restart()
	b := open(0, 3, 4)
	admin.Nodes(t.Context(), b)
	began := time.Now()
	b.Close() // this client was a mistake: it lived for half a second and took no lock
	var lost time.Duration
	for time.Since(began) < 60*time.Second {
		if lost == 0 && l.Context().Err() != nil {
			lost = time.Since(began)
			t.Logf("A lost its lock after %s, all of its nodes were up: %v", lost, context.Cause(l.Context()))
		}
		y, err := a.Mutex("y").TryLock(t.Context())
		if err != nil {
			if time.Since(began) > 12*time.Second && time.Since(began) < 12100*time.Millisecond {
				t.Log(err)
			}
		} else {
			y.Unlock(t.Context())
			if lost > 0 {
				t.Errorf("the set was shut for %s", time.Since(began))
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
}
