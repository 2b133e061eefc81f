//go:build open

package e2e

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// Two lists share node 0, and the configuration contains no name of the node set, so the name is a hash of the list. No
// node fails, and every client reaches its nodes.
func TestOpenListsWithoutANameThatShareANode(t *testing.T) {
	s := newSet(t, 5)
	open := func(which ...int) *holdfast.Client {
		return s.client(func(c *holdfast.Config) {
			var urls []string
			for _, i := range which {
				urls = append(urls, s.urls[i])
			}
			c.Cluster = ""
			nodes, err := rueidisnode.Open(urls...)
			if err != nil {
				t.Fatal(err)
			}
			c.Nodes = nodes
		})
	}
	a := s.ready(open(0, 1, 2))
	l := lock(t, a, "x")
	b := open(0, 3, 4)
	got, err := b.Mutex("x").TryLock(t.Context())
	n, why := standing(t, b)
	t.Logf("%d nodes vote for B: %s", n, why)
	if err == nil && l.Context().Err() == nil {
		t.Errorf("two holders: A for another %s (and renewed), and B, token %d", time.Until(l.Deadline()), got.Fence())
		time.Sleep(3 * time.Second)
		t.Logf("3 s later: A %v, B %v", l.Context().Err(), got.Context().Err())
	}
}
