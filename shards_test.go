package holdfast_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node"
)

// clusterOf is a Redis Cluster whose servers do not answer, with a topology that a test decides.
type clusterOf struct {
	node.Node
	now atomic.Pointer[node.Topology]
}

func (c *clusterOf) Replication() node.Replication                { return node.Replication{} }
func (c *clusterOf) Topology() *node.Topology                     { return c.now.Load() }
func (c *clusterOf) Close()                                       {}
func (c *clusterOf) Look(context.Context) (*node.Topology, error) { return c.now.Load(), nil }

// set makes some nodes the shards, and gives all hash slots to the last one.
func (c *clusterOf) set(former []node.Node, shards ...node.Node) {
	t := &node.Topology{Former: former}
	for _, n := range shards {
		t.Shards = append(t.Shards, &node.Shard{Name: n.Addr(), Node: n, Slots: 1})
	}
	for i := range t.Owner {
		t.Owner[i] = int16(len(shards) - 1)
	}
	c.now.Store(t)
}

// closable counts the calls of Close.
type closable struct {
	down
	closed atomic.Int32
}

func (n *closable) Close() { n.closed.Add(1) }

// A shard without hash slots may get some again, so the client keeps what it has for it. When the shard is gone for
// good, the client closes that.
func TestAShardThatIsGoneLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := nowhere(t, 3)
		stays, goes := &closable{down: down{list[0]}}, &closable{down: down{list[1]}}
		cluster := &clusterOf{Node: list[2]}
		cluster.set(nil, stays, goes)
		client, err := holdfast.New(holdfast.Config{Nodes: []node.Node{cluster}})
		if err != nil {
			t.Fatal(err)
		}
		use := func() {
			t.Helper()
			if _, err := client.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
				t.Fatalf("TryLock: %v", err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		use()
		cluster.set([]node.Node{goes}, stays)
		use()
		if n := goes.closed.Load(); n != 0 {
			t.Fatal("the node of a shard that may come back is closed")
		}
		cluster.set(nil, stays, goes)
		use()
		cluster.set(nil, stays)
		use()
		if goes.closed.Load() != 1 || stays.closed.Load() != 0 {
			t.Errorf("closed %d times, and the other one %d times; want 1 and 0", goes.closed.Load(), stays.closed.Load())
		}
		use()
		_ = client.Close()
		if goes.closed.Load() != 1 || stays.closed.Load() != 1 {
			t.Errorf("after Close: closed %d times, and the other one %d times; want 1 and 1", goes.closed.Load(), stays.closed.Load())
		}
	})
}
