package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// One node of three refuses INFO to this client's user. So the client never meets it (hello fails), but the node
// answers reports.
func TestANodeThatCannotBeGreetedStopsNobody(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	s.ready(s.client()) // another client, which has all rights, works
	s.servers[2].MustDo(t, "ACL", "SETUSER", "holdfast", "on", ">pw", "~*", "&*", "+@all", "-info")
	urls := append([]string(nil), s.urls...)
	urls[2] = strings.Replace(urls[2], "redis://", "redis://holdfast:pw@", 1)
	a := s.client(func(c *holdfast.Config) {
		nodes, err := rueidisnode.Open(urls...)
		if err != nil {
			t.Fatal(err)
		}
		c.Nodes = nodes
	})
	began := time.Now()
	var err error
	for time.Since(began) < 10*time.Second {
		var l *holdfast.Lease
		if l, err = a.Mutex("x").TryLock(t.Context()); err == nil {
			t.Logf("locked after %s", time.Since(began))
			l.Unlock(t.Context())
			return
		}
	}
	t.Errorf("two of three nodes are healthy, and no lock for 10 s: %v", err)
}
