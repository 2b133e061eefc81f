package holdfast

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
	"github.com/holdfast-go/holdfast/node"
)

// set is one node set of a client: the nodes that lock a name together. Most clients have one. A client of a Redis
// Cluster has one for each shard.
type set struct {
	client *Client
	fan    *fanout.Fanout
	said   answers.Source // makes the public answers of the nodes
	inbox  *waiting.Inbox
	id     string // distinguishes this inbox from those of other sets and clients
}

// openSet makes the node set of some nodes. shard is nil unless the node is a shard.
func (c *Client) openSet(nodes []node.Node, shard *fanout.Shard) *set {
	return c.sets.add(func(index int) *set {
		s := &set{client: c, fan: c.newFanout(nodes, index, shard)}
		s.said = answers.Source{Fan: s.fan, Window: c.config.Window}
		var b [12]byte
		s.id = string(random(c.sets.here.Random, b[:]))
		s.inbox = waiting.NewInbox(s.fan, s.id)
		return s
	})
}

// closeSet closes a set of a shard whose node the driver closes, when no lease and no waiter uses it. It looks for them
// once a second, first after a second, when calls that began before have ended. It returns early if the client closes.
func (c *Client) closeSet(s *set) {
	for first := true; first || c.keeper.Serves(s.fan) || !s.inbox.Idle(); first = false {
		select {
		case <-time.After(time.Second):
		case <-c.stop:
			return
		}
	}
	s.fan.EndWaits()
	ctx, cancel := context.WithTimeout(context.Background(), 2*c.config.NodeTimeout)
	defer cancel()
	s.fan.Close(ctx)
	c.sets.remove(s)
}
