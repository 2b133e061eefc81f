package holdfast

import (
	"context"
	"sync"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// shards leads the names of a client to the shards of a Redis Cluster. Each shard is a node set of its own, with one
// node: its present master.
type shards struct {
	client  *Client
	cluster node.Cluster

	mu     sync.Mutex
	byName map[string]*set // by the name of the shard
	seen   *node.Topology  // the topology whose shards are in byName
}

// known returns nil when the shards are known. It asks for them if no majority of the servers has told them yet. The
// error matches ErrUnavailable. name and slots are for the error.
func (h *shards) known(ctx context.Context, name string, slots int) error {
	if h.cluster.Topology() != nil {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, 2*h.client.config.NodeTimeout)
	defer cancel()
	_, err := h.cluster.Look(within)
	if err == nil {
		return nil
	}
	un := &UnavailableError{Name: name, Slots: slots, Nodes: []verdict.Answer{{Node: h.cluster.Addr(), Reason: verdict.ReasonFailed, Err: err}}}
	if ctx.Err() != nil {
		return ended(ctx, un)
	}
	return un
}

// of returns the set of the shard that has a name, which is with the Prefix. If no shard has its hash slot at present,
// it returns the one that had it, or any: that one does not vote for this name. The shards must be known.
func (h *shards) of(name string) *set {
	return h.at(h.cluster.Topology(), node.SlotOf(nodescript.RecordKey(name)))
}

func (h *shards) at(t *node.Topology, slot int) *set {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t != h.seen {
		for _, one := range t.Shards {
			h.openLocked(one)
		}
		h.seen = t
	}
	i := max(t.Owner[slot], 0)
	return h.openLocked(t.Shards[i])
}

// openLocked returns the set of a shard, and makes it if the shard is new. The caller holds h.mu.
func (h *shards) openLocked(one *node.Shard) *set {
	s := h.byName[one.Name]
	if s == nil {
		c := h.client
		s = c.openSet([]node.Node{one.Node}, one.Name)
		s.inbox.Repair = c.keeper.Repair
		c.keeper.Serve(s.fan)
		h.byName[one.Name] = s
	}
	return s
}
