package driver

import (
	"context"

	"github.com/holdfast-go/holdfast/node"
)

// A cluster is also a [node.Node], so it fits wherever a program takes one node. Clients do not use these methods: they
// use the nodes of the shards.

// shardFor returns the node of the shard that has the hash slot of a call's last key. If the call has no keys, or the
// slot no owner, it returns the node of the first shard.
func (c *Cluster) shardFor(ctx context.Context, keys []string) (node.Node, error) {
	t := c.Topology()
	if t == nil {
		var err error
		if t, err = c.Look(ctx); err != nil {
			return nil, node.NotSent(err)
		}
	}
	if len(t.Shards) == 0 {
		return nil, &node.Error{Code: node.ClusterDown, Message: "CLUSTERDOWN no hash slot of the cluster has an owner"}
	}
	at := 0
	if len(keys) > 0 {
		at = max(int(t.Owner[node.SlotOf(keys[len(keys)-1])]), 0)
	}
	return t.Shards[at].Node, nil
}

// EvalSHA implements [node.Node].
func (c *Cluster) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	replies := make([]node.Reply, len(calls))
	for i, call := range calls {
		n, err := c.shardFor(ctx, call.Keys)
		if err != nil {
			replies[i].Err = err
			continue
		}
		replies[i] = n.EvalSHA(ctx, []node.Call{call})[0]
	}
	return replies
}

// Eval implements [node.Node].
func (c *Cluster) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	n, err := c.shardFor(ctx, call.Keys)
	if err != nil {
		return node.Reply{Err: err}
	}
	return n.Eval(ctx, text, call, load...)
}

// Listen implements [node.Node].
func (c *Cluster) Listen(ctx context.Context, channel string, on func(message string)) error {
	n, err := c.shardFor(ctx, nil)
	if err != nil {
		return err
	}
	return n.Listen(ctx, channel, on)
}
