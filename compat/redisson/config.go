package redisson

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// Bounds and defaults of [Config].
const (
	mostNodes          = 31
	defaultTTL         = 30 * time.Second // lockWatchdogTimeout of Redisson
	leastTTL           = 100 * time.Millisecond
	mostTTL            = 24 * time.Hour
	defaultNodeTimeout = 500 * time.Millisecond
	defaultPoll        = time.Second
	leastPoll          = 10 * time.Millisecond
)

// Config contains the settings of a [Client]. Only Nodes has no default.
type Config struct {
	// Nodes are the servers of the locks. One node is the server of an RLock. Several nodes have the layout of
	// RedissonRedLock: a majority decides. Give the Java side the same servers. The client closes the nodes.
	Nodes []node.Node

	// TTL is the time for which a server keeps a lock without a renewal. It is lockWatchdogTimeout of Redisson. It may
	// differ from the one of the Java side. From 100ms to 24h.
	// Defaults to 30s.
	TTL time.Duration

	// MapName returns the key of a name, as NameMapper.map of the Java side does, for example by a prefix.
	// Defaults to the name itself.
	MapName func(name string) string

	// Fenced makes the locks an RFencedLock: each acquisition draws a token, and creates the number if it is missing.
	// Without Fenced, a name that has a token key draws from it all the same, so a fleet that uses RFencedLock gets
	// growing tokens. Needs a single node.
	// Defaults to false.
	Fenced bool

	// Sharded sends and hears the unlock messages by SPUBLISH and SSUBSCRIBE. Redisson does so if its Config uses a
	// Redis Cluster (useClusterServers) of version 7 or later, and in no other case. Set it exactly then. Each node must
	// implement [node.Sharded]. All keys of the locks must be on the node: it follows no redirection.
	// Defaults to false.
	Sharded bool

	// Poll is the longest time for which a waiter sleeps without a message. It asks sooner if the lock expires. From
	// 10ms to 24h.
	// Defaults to 1s.
	Poll time.Duration

	// NodeTimeout is the time that one node has for its answer. From 1ms to half of TTL.
	// Defaults to 500ms, or half of TTL if that is less.
	NodeTimeout time.Duration
}

// withDefaults returns c with defaults for zero values, or an error that names the field, the value and the bound.
func (c Config) withDefaults() (Config, error) {
	or := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	or(&c.TTL, defaultTTL)
	or(&c.Poll, defaultPoll)
	or(&c.NodeTimeout, max(min(defaultNodeTimeout, c.TTL/2), time.Millisecond))
	if c.MapName == nil {
		c.MapName = func(name string) string { return name }
	}
	switch n := len(c.Nodes); {
	case n == 0 || n > mostNodes:
		return c, bad("Nodes has %d nodes; it must have from 1 to %d", n, mostNodes)
	case c.Fenced && n > 1:
		return c, bad("Fenced is set, and Nodes has %d nodes; tokens need a single node, because each node has its own number", n)
	}
	if err := checkTTL("TTL", c.TTL); err != nil {
		return c, bad("%w", err)
	}
	if c.Poll < leastPoll || c.Poll > mostTTL {
		return c, bad("Poll is %s; it must be from %s to %s", c.Poll, leastPoll, mostTTL)
	}
	if c.NodeTimeout < time.Millisecond || c.NodeTimeout > c.TTL/2 {
		return c, bad("NodeTimeout is %s; it must be from 1ms to half of TTL = %s", c.NodeTimeout, c.TTL/2)
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

func checkTTL(what string, ttl time.Duration) error {
	if ttl < leastTTL || ttl > mostTTL {
		return fmt.Errorf("%s is %s; it must be from %s to %s", what, ttl, leastTTL, mostTTL)
	}
	return nil
}

func bad(format string, args ...any) error {
	return fmt.Errorf("redisson: bad configuration: "+format, args...)
}

// newID returns a client id in the form of Redisson's: a random UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// validity is the time for which a holder may rely on a lock, from the moment before the first request was sent. The
// margin is that of Redlock, which package quorum also has: a hundredth of the TTL for clocks that run at different
// speeds, and 2 ms for the resolution of expiry and the timer. The nodes measure a duration, so Window is not needed.
func validity(ttl time.Duration) time.Duration { return ttl - ttl/100 - 2*time.Millisecond }
