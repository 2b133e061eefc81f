package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// A replica that lacks the last grant takes over, its former master copies its data, and takes over again before the next
// look of a client. The client sees the same master in both looks, and must ask anew for the admission of its slots.
func TestTwoFailoversBetweenTwoLooksEndATurn(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 1)
	long := func(cfg *holdfast.Config) { cfg.MaxTTL, cfg.TTL = 2*time.Minute, 2*time.Minute }
	name := names("n", 1)[0]
	var topology node.Cluster
	holder, other := c.client(long), c.client(long, func(cfg *holdfast.Config) {
		nodes, err := rueidisnode.Open(c.url())
		if err != nil {
			t.Fatal(err)
		}
		cfg.Nodes, topology = nodes, nodes[0].(node.Cluster)
	})
	for _, client := range []*holdfast.Client{holder, other} { // both ask for the admission of the slot
		_ = lock(t, client, "{"+name+"}other").Unlock(t.Context())
	}
	master := c.master(name)
	replica := c.ReplicasOf(master)[0]
	linked := func(s *redistest.Server, state string) func() bool {
		return func() bool {
			return strings.Contains(s.MustDo(t, "INFO", "replication").(string), "master_link_status:"+state)
		}
	}
	redistest.Eventually(t, 20*time.Second, "the replica to copy", linked(replica, "up"))
	replica.MustDo(t, "CONFIG", "SET", "masterauth", "x")
	master.MustDo(t, "CLIENT", "KILL", "TYPE", "replica")
	redistest.Eventually(t, 20*time.Second, "the replica to be cut off", linked(replica, "down"))
	l := lock(t, holder, name) // the replica lacks it
	replica.MustDo(t, "CLUSTER", "FAILOVER", "TAKEOVER")
	for began := time.Now(); !linked(master, "up")(); { // without a pause, because the next look may come soon
		if time.Since(began) > 20*time.Second {
			t.Fatal("the former master does not copy")
		}
	}
	master.MustDo(t, "CLUSTER", "FAILOVER", "TAKEOVER")
	redistest.Eventually(t, 20*time.Second, "a look that names the former master", func() bool {
		now, err := topology.Look(t.Context())
		return err == nil && now.Owner[redistest.Slot(name)] >= 0 && now.Shards[now.Owner[redistest.Slot(name)]].Master.Addr == master.Addr()
	})
	second, err := other.Mutex(name).TryLock(t.Context())
	if err == nil && l.Context().Err() == nil {
		t.Fatalf("two holders: the tokens %d and %d, %s before the deadline of the first", l.Fence(), second.Fence(), time.Until(l.Deadline()))
	}
	c.refuses(other, name)
}
