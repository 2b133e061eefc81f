package rueidisnode_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

const patience = 20 * time.Second

func TestAClusterIsFound(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 3, 1)
	c, err := rueidisnode.NewCluster("redis+cluster://" + servers.Servers()[4].Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if c.Topology() != nil {
		t.Error("there is a topology before the first question")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	topology, err := c.Look(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(topology.Shards) != 3 || topology.Servers != 6 || topology.Asked != 6 {
		t.Fatalf("%d shards, %d servers, %d asked", len(topology.Shards), topology.Servers, topology.Asked)
	}
	const script = "return redis.call('INCR', KEYS[1])"
	for slot := 0; slot < node.Slots; slot += 1000 {
		shard := topology.Shards[topology.Owner[slot]]
		call := node.Call{SHA: sha(script), Keys: []string{redistest.KeyIn(slot, "k")}}
		if r := shard.Node.Eval(ctx, script, call); r.Value != "1" {
			t.Fatalf("slot %d: %+v", slot, r)
		}
		if r := shard.Node.EvalSHA(ctx, []node.Call{call})[0]; r.Value != "2" {
			t.Errorf("slot %d: %+v", slot, r)
		}
		if shard.Master.Addr != servers.MasterOf(slot).Addr() || !strings.HasPrefix(shard.Node.Addr(), c.Addr()+"/"+shard.Name[:8]) {
			t.Errorf("slot %d: the shard is %+v", slot, shard)
		}
	}
}

func sha(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}
