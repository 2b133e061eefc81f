package holdfast

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/environment"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
	"github.com/holdfast-go/holdfast/node"
)

// sets has the node sets of a client.
type sets struct {
	here   environment.Sources
	clock  *fanout.Fanout // its clock is that of all sets. It is the only set, or has no nodes
	shards *shards        // leads names to the shards of a Redis Cluster; nil: there is none
	fixed  int            // the number of sets that [Sharded] got; 0: not used

	mu  sync.Mutex
	all atomic.Pointer[[]*set] // by index; a set that a client of a Redis Cluster has closed is nil: see [sets.live]
}

// openSets makes the first node set, or what leads names to the shards of a Redis Cluster.
func (c *Client) openSets() {
	of := &c.sets
	of.all.Store(&[]*set{})
	c.locker = &waiting.Locker{
		RetryDelay: c.config.RetryDelay, Stop: c.stop, Fair: c.config.Fair, Gap: c.config.PollGap,
		NewOwner: func(client string, ticket int64) string {
			var b [16]byte
			return nodescript.NewOwner(c.config.Label, client, ticket, random(of.here.Random, b[:]))
		},
	}
	cluster, several := c.config.redisCluster(), c.config.several()
	switch {
	case several != nil:
		of.here, of.fixed = environment.Of(several.sets[0][0]), len(several.sets)
		whole := c.config
		for i, nodes := range several.sets {
			c.config.Nodes, c.config.Cluster = nodes, label(whole.Cluster, i, of.fixed)
			c.openSet(nodes, nil)
		}
		c.config = whole
		of.clock = of.at(0).fan
		c.locker.Fan = of.clock
		c.locker.Route = func(name string) (*fanout.Fanout, *waiting.Inbox) {
			s := of.at(setOf(name, of.fixed))
			return s.fan, s.inbox
		}
	case cluster == nil:
		of.here = environment.Of(c.config.Nodes[0])
		s := c.openSet(c.config.Nodes, nil)
		of.clock, c.locker.Fan, c.locker.Inbox = s.fan, s.fan, s.inbox
	default:
		of.here = environment.Of(nil)
		of.clock = c.newFanout(nil, 0, nil)
		c.locker.Fan = of.clock
		of.shards = &shards{client: c, cluster: cluster, byNode: map[node.Node]*set{}}
		c.locker.Route = func(name string) (*fanout.Fanout, *waiting.Inbox) {
			s := of.shards.of(name)
			return s.fan, s.inbox
		}
	}
	c.keeper = renewal.NewKeeper(of.clock)
	c.keeper.Explain, c.keeper.Events = c.lost, &c.events
	if of.shards != nil {
		c.keeper.Route = func(name string) *fanout.Fanout { return of.shards.owner(node.SlotOf(nodescript.RecordKey(name))) }
		c.keeper.Routes = func() any { return cluster.Topology() }
	}
	c.keeper.Refused = func(name string) { c.set(name).inbox.Subscribe() }
	for i, s := range *of.all.Load() {
		if s.inbox.Repair = c.keeper.Repair; i > 0 {
			c.keeper.Serve(s.fan)
		}
	}
}

// at returns the set with an index. It is not nil while a goroutine of the set runs.
func (of *sets) at(i int) *set { return (*of.all.Load())[i] }

// live returns the sets that are not closed.
func (of *sets) live() []*set {
	all := *of.all.Load()
	if of.shards == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(s *set) bool { return s == nil })
}

// add adds a set that the function open makes for its index.
func (of *sets) add(open func(index int) *set) *set {
	of.mu.Lock()
	defer of.mu.Unlock()
	all := *of.all.Load()
	s := open(len(all))
	next := append(slices.Clip(slices.Clone(all)), s)
	of.all.Store(&next)
	return s
}

// remove removes a set that is closed. The other sets keep their indexes.
func (of *sets) remove(s *set) {
	of.mu.Lock()
	defer of.mu.Unlock()
	next := slices.Clone(*of.all.Load())
	next[slices.Index(next, s)] = nil
	of.all.Store(&next)
}

// owns reports whether an owner belongs to this client.
func (of *sets) owns(owner string) bool {
	client := nodescript.ClientOf(owner)
	return slices.ContainsFunc(of.live(), func(s *set) bool { return s.id == client })
}

// close closes all nodes.
func (of *sets) close(ctx context.Context) {
	if of.shards != nil {
		of.shards.end()
		defer of.shards.cluster.Close()
		defer of.clock.Close(ctx)
	}
	var wait sync.WaitGroup
	for _, s := range of.live() {
		wait.Go(func() { s.fan.Close(ctx) })
	}
	wait.Wait()
}

// set returns the node set that has a name, which is with the Prefix. For a Redis Cluster, [Client.reach] must have
// found it before.
func (c *Client) set(name string) *set {
	switch {
	case c.sets.fixed > 0:
		return c.sets.at(setOf(name, c.sets.fixed))
	case c.sets.shards == nil:
		return c.sets.at(0)
	}
	return c.sets.shards.of(name)
}

// reach returns the node set that has the name of m. It waits until the shards of a Redis Cluster are known.
func (c *Client) reach(ctx context.Context, m *Mutex) (*set, error) {
	if c.sets.shards != nil {
		if err := c.sets.shards.known(ctx, m.name, m.k()); err != nil {
			return nil, err
		}
	}
	return c.set(m.lock.Name()), nil
}

// reachAll returns the node sets, at least one. It waits until the shards of a Redis Cluster are known.
func (c *Client) reachAll(ctx context.Context) ([]*set, error) {
	h := c.sets.shards
	if h == nil {
		return c.sets.live(), nil
	}
	if err := h.known(ctx, "", 0); err != nil {
		return nil, err
	}
	return h.all(h.topology()), nil // the hash slots may be gone since then
}

// present returns the set of each shard that has hash slots now, or all sets if there is no Redis Cluster. It returns
// none before the shards are known.
func (of *sets) present() []*set {
	if of.shards == nil {
		return of.live()
	}
	return of.shards.all(of.shards.cluster.Topology())
}

// now reads the client's steady clock.
func (c *Client) now() clock.Instant { return c.sets.clock.Now() }

// newOwner returns a new owner for a name, which is with the Prefix.
func (c *Client) newOwner(name string) string {
	s := c.set(name)
	return c.locker.NewOwner(s.id, s.fan.StampAt(s.fan.Now()))
}

// newFanout makes the connection to some nodes. index is that of their set. shard is nil unless the node is a shard.
func (c *Client) newFanout(nodes []node.Node, index int, shard *fanout.Shard) *fanout.Fanout {
	here := c.sets.here
	return fanout.New(fanout.Config{
		Nodes: nodes, Shard: shard, Set: c.config.nodeSet(), Timeout: c.config.NodeTimeout, Clock: here.Clock, Random: here.Random, Delay: here.Delay,
		Suspect: here.Suspect, Woken: here.Woken, Logger: c.config.Logger, OneList: c.config.Cluster == clusterName(c.config.Nodes),
		VoteChanged: func(node int, a nodescript.Answer, offset time.Duration) {
			c.events.Emit(events.Event{Kind: events.NodeState, Set: index, Node: node, Answer: a, Offset: offset})
		},
	})
}
