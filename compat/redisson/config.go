package redisson

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/compat/internal/client"
	"github.com/holdfast-go/holdfast/compat/internal/holding"
	"github.com/holdfast-go/holdfast/node"
)

// Bounds and defaults of [Config].
const (
	mostNodes   = 31
	defaultPoll = time.Second
	leastPoll   = 10 * time.Millisecond
)

// Config contains the settings of a [Client]. Only Nodes has no default.
type Config struct {
	// Nodes are the servers of the locks. With one node, the locks are those of RLock in Java. With several nodes, a
	// majority decides, and the locks are those of RedissonRedLock. Give the Java side the same servers. The client
	// closes the nodes.
	Nodes []node.Node

	// TTL is the time for which a server keeps a lock without a renewal. Redisson calls it lockWatchdogTimeout. The
	// Java side may have another value, but readers need at most that of the Java side: see Readers in the package
	// comment. From 100ms to 24h. Defaults to 30s.
	TTL time.Duration

	// MapName returns the key for a name. It must do the same as NameMapper.map on the Java side, for example add a
	// prefix. Defaults to the name itself.
	MapName func(name string) string

	// Fenced makes each lock an RFencedLock of Java: each acquisition gets a fencing token. The server keeps a
	// counter for these tokens, and Fenced creates the counter if it is missing. Without Fenced, an acquisition still
	// takes a token if the counter exists. So tokens also grow in a fleet whose Java side uses RFencedLock. Needs a
	// single node. Defaults to false.
	Fenced bool

	// Sharded sends and receives the messages of an unlock by SPUBLISH and SSUBSCRIBE. Redisson does this only if it
	// is configured for a Redis Cluster (useClusterServers) of version 7 or later. Set Sharded in exactly this case.
	// Otherwise the two sides do not wake each other. Each node must implement [node.Sharded], and must have all keys
	// of the locks: the client does not follow redirections. Defaults to false.
	Sharded bool

	// Poll is the longest time for which a waiter sleeps without a message. It asks sooner if the lock expires sooner,
	// and for a while each 1 to 33 ms if it sees that holders release without a message, as RSpinLock does. From 10ms
	// to 24h. Defaults to 1s.
	Poll time.Duration

	// NodeTimeout is the time in which a node must answer. From 1ms to half of TTL. Defaults to 500ms, or to half of
	// TTL if that is less.
	NodeTimeout time.Duration
}

// withDefaults replaces zero values with the defaults. If a value is bad, the error names the field, the value and
// the bound.
func (c Config) withDefaults() (Config, error) {
	client.Default(&c.TTL, &c.NodeTimeout)
	client.Or(&c.Poll, defaultPoll)
	if c.MapName == nil {
		c.MapName = client.Same
	}
	switch n := len(c.Nodes); {
	case n == 0 || n > mostNodes:
		return c, bad("Nodes has %d nodes; it must have from 1 to %d", n, mostNodes)
	case c.Fenced && n > 1:
		return c, bad("Fenced is set, and Nodes has %d nodes; tokens need a single node, because each node has its own number", n)
	}
	if err := holding.CheckTTL("TTL", c.TTL, holding.LeastTTL); err != nil {
		return c, bad("%w", err)
	}
	if err := client.CheckTimes(c.TTL, c.Poll, leastPoll, c.NodeTimeout); err != nil {
		return c, bad("%w", err)
	}
	addrs := map[string]int{}
	for i, n := range c.Nodes {
		if n == nil {
			return c, bad("Nodes[%d] is nil", i)
		}
		if first, twice := addrs[n.Addr()]; twice {
			return c, bad("Nodes[%d] and Nodes[%d] are the same server, %s: it would vote twice", first, i, n.Addr())
		}
		addrs[n.Addr()] = i
		if _, ok := n.(node.Sharded); c.Sharded && !ok {
			return c, bad("Sharded is set, and Nodes[%d] (%s) does not implement node.Sharded: use a driver that does", i, n.Addr())
		}
	}
	return c, nil
}

func bad(format string, args ...any) error {
	return fmt.Errorf("redisson: bad configuration: "+format, args...)
}

// newID returns a random UUID, in the form of the id of a RedissonClient.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
