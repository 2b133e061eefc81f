package nodescript

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// Protocol is the version of the stored data and their meaning. Clients with two versions cannot share a node set.
// Version 2 added readers: a client of version 1 would not notice readers that hold a name. Version 3 added the
// releases of an operator: a client of version 2 that renews a reader's lease would bring back a lease that an operator
// has ended. Version 4 added the epoch under which Sentinel names a server: a client of version 3 would admit a former
// master at once.
const Protocol = 4

// Config contains the settings that all clients of a node set must share. A node refuses clients whose settings differ
// from those that it has stored.
type Config struct {
	N       int           // the number of nodes in the set
	MaxTTL  time.Duration // the longest time for which a lease is granted or renewed
	Window  time.Duration // W: how far a stamp may be from a node's clock
	Durable bool          // every node keeps its data over a restart (appendfsync always)
	Cluster string        // the name of the node set
	Sharded bool          // the node is a shard of a Redis Cluster: see Slots
}

// String returns the configuration as one line of text. Nodes store this line.
func (c Config) String() string {
	durable := "no"
	if c.Durable {
		durable = "yes"
	}
	return fmt.Sprintf("protocol=%d nodes=%d max-ttl=%s window=%s durable=%s cluster=%s",
		Protocol, c.N, c.MaxTTL, c.Window, durable, c.Cluster)
}

// Quarantine returns the time for which a node that may have forgotten locks does not vote. After this time, all locks
// that the node may have granted before have ended.
func (c Config) Quarantine() time.Duration { return c.MaxTTL + c.Window }

// NamedQuarantine returns the length of a quarantine on a server that Sentinel names. The client of the former master
// may renew a lease there for [node.NamedFor] after the quarantine began. The lease ends 4 W before its TTL. See
// docs/design/proofs.md, Sentinel.
func (c Config) NamedQuarantine() time.Duration {
	return c.Quarantine() + max(0, node.NamedFor-4*c.Window)
}

// TrustedQuarantine returns the length of a quarantine after a voucher. A voucher states that no lock is alive on the
// node. The quarantine is 9 W, as with the shortest MaxTTL, 8 W. It cannot be shorter: later tokens must be higher
// than all earlier ones, and the stamps of the earlier ones may have been ahead. See docs/design/protocol.md, Tokens
// after a voucher.
func (c Config) TrustedQuarantine() time.Duration { return 9 * c.Window }

// Claim returns the time for which a claim reserves a name for a waiter. In this time the message must reach the
// waiter, and the waiter's acquire must reach the node. Together this may take 2 W, and a busy client needs at least a
// second. The time is not longer, because a waiter that is frozen keeps the name from the others for the whole claim.
func (c Config) Claim() time.Duration {
	return max(Claim, (2*c.Window + c.Window/2).Round(time.Millisecond))
}

// stayPeriod is the time for which scripts may leave the expiry (PX) of a used record unchanged. Two tokens in one
// such period have the same first eight of their sixteen digits. Scripts compare these digits.
const stayPeriod = 100 * time.Second

// Stays returns the expiry (PX) that scripts give to a record. When the lease expires or is released, at least
// RecordKept of it must be left. Three other times may pass before that: a stayPeriod without a new PX, another
// stayPeriod by which a token may differ from the clock, and one lease that was never renewed.
func (c Config) Stays() time.Duration {
	return (RecordKept + 2*stayPeriod + 2*c.Quarantine()).Round(time.Millisecond)
}
