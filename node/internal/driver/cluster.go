package driver

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// Cluster is a Redis Cluster: it implements [node.Cluster]. It asks the servers of the cluster for the topology, and
// believes a majority only. One goroutine does this for all shards, from the first use until Close.
type Cluster struct {
	name  string
	c     ClusterConfig
	start sync.Once
	ctx   context.Context
	end   context.CancelFunc
	wg    sync.WaitGroup
	again chan struct{}           // has room for one: asks for a round before the next tick
	now   atomic.Pointer[settled] // nil before the first majority

	mu        sync.Mutex
	record    record
	witnesses map[string]*witness // the servers to ask, by address
	unheard   bool                // the last round had no majority, or no round has ended: the seeds are asked, too
	shards    []*Shard            // the shards with hash slots, and shards that lost all of them less than parted ago
	round     *round              // the present round; nil between two rounds
	begun     int                 // the number of rounds so far
	ended     int                 // the number of the last round that has ended
	wanted    int                 // the latest round that a caller of Look waits for
	err       error               // the error of the last round, nil if it had a majority
	done      chan struct{}       // closes when a round ends
}

// ClusterConfig describes a cluster.
type ClusterConfig struct {
	Seeds       []string // host:port of some of the servers
	TLS         bool
	Replication node.Replication
	// Login returns the login for all servers; without a password there is no AUTH.
	Login func(ctx context.Context) (user, password string, err error)
	// Dial connects to a server.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// Node makes the node of a shard. It must use neither the network nor the cluster.
	Node func(s *Shard) node.Node
	// Closed is called by Close before it closes the nodes. It may be nil.
	Closed func()
}

// settled is the result of a round.
type settled struct {
	topology *node.Topology
	shards   []*Shard      // those of topology
	asked    clock.Instant // before the questions were sent
}

var _ node.Cluster = (*Cluster)(nil)

// NewCluster returns a cluster. It does not use the network.
func NewCluster(config ClusterConfig) *Cluster {
	scheme := "redis"
	if config.TLS {
		scheme = "rediss"
	}
	c := &Cluster{
		name: scheme + "+cluster://" + strings.Join(config.Seeds, ","), c: config,
		again: make(chan struct{}, 1), witnesses: map[string]*witness{}, unheard: true, done: make(chan struct{}),
	}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// Addr implements [node.Cluster].
func (c *Cluster) Addr() string { return c.name }

// Replication implements [node.Cluster].
func (c *Cluster) Replication() node.Replication { return c.c.Replication }

// Topology implements [node.Cluster].
func (c *Cluster) Topology() *node.Topology {
	if s := c.now.Load(); s != nil {
		return s.topology
	}
	return nil
}

// Look implements [node.Cluster].
func (c *Cluster) Look(ctx context.Context) (*node.Topology, error) {
	c.run()
	c.mu.Lock()
	first := c.begun + 1
	c.wanted = max(c.wanted, first)
	c.poke()
	for c.ended < first {
		done := c.done
		c.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return nil, ContextError(ctx)
		case <-c.ctx.Done():
			return nil, node.ErrClosed
		}
		c.mu.Lock()
	}
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	return c.Topology(), nil
}

// poke makes the next round begin soon.
func (c *Cluster) poke() {
	select {
	case c.again <- struct{}{}:
	default:
	}
}

// hurried is the least time between the beginnings of two rounds if no caller waits for the second one.
const hurried = 20 * time.Millisecond

// run starts the goroutine that asks the servers.
func (c *Cluster) run() {
	c.start.Do(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ctx.Err() == nil { // Close ends ctx under this mutex, and then waits
			c.wg.Go(c.follow)
		}
	})
}

func (c *Cluster) follow() {
	t := time.NewTicker(askEvery)
	defer t.Stop()
	for began := (time.Time{}); ; {
		select {
		case <-t.C:
		case <-c.again:
			if c.hurry() {
				break
			}
			select { // many replies may say that a slot has moved
			case <-time.After(time.Until(began.Add(hurried))):
			case <-c.ctx.Done():
			}
		case <-c.ctx.Done():
			return
		}
		if c.ctx.Err() != nil {
			return
		}
		began = time.Now()
		c.ask()
		if c.hurry() {
			c.poke()
		}
	}
}

// hurry reports whether a caller waits for the next round.
func (c *Cluster) hurry() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wanted > c.begun
}

// Close implements [node.Cluster].
func (c *Cluster) Close() {
	c.mu.Lock()
	c.end()
	shards := c.shards
	c.shards = nil
	for addr, w := range c.witnesses {
		c.dismiss(addr, w)
	}
	c.mu.Unlock()
	if c.c.Closed != nil {
		c.c.Closed()
	}
	for _, s := range shards {
		s.node.Close()
	}
	c.wg.Wait()
}
