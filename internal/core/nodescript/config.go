package nodescript

import (
	"fmt"
	"time"
)

// Protocol is the version of the stored data and their meaning. Clients of two versions cannot share a node set. 2 adds
// readers: a client of version 1 would not see them. 3 adds the releases of an operator: the renewal of a reader by a client of
// version 2 would bring its lease back.
const Protocol = 3

// Config contains the settings that all clients of a node set must share. A node that votes under one configuration
// refuses clients with another one.
type Config struct {
	N       int           // the number of nodes in the set
	MaxTTL  time.Duration // no lease is granted or renewed for longer
	Window  time.Duration // W: how far a stamp may be from a node's clock
	Durable bool          // every node keeps its data over a restart (appendfsync always)
	Cluster string        // the node set's name
}

// String returns the configuration in the form that nodes store and people read.
func (c Config) String() string {
	durable := "no"
	if c.Durable {
		durable = "yes"
	}
	return fmt.Sprintf("protocol=%d nodes=%d max-ttl=%s window=%s durable=%s cluster=%s",
		Protocol, c.N, c.MaxTTL, c.Window, durable, c.Cluster)
}

// Quarantine returns the time for which a node that may have forgotten locks does not vote. Afterwards every lock that
// it may have granted has ended.
func (c Config) Quarantine() time.Duration { return c.MaxTTL + c.Window }

// TrustedQuarantine returns the length of a quarantine after a voucher, which states that no lock is alive. It equals
// the quarantine of the shortest MaxTTL, 8 W. It is not shorter, because later tokens must exceed all earlier tokens,
// and stamps of earlier tokens may have been ahead: see docs/protocol.md, Tokens after a voucher.
func (c Config) TrustedQuarantine() time.Duration { return 9 * c.Window }

// Claim returns how long a claim reserves a name for a waiter. In this time the message must arrive and the waiter's
// acquire must come back, which may take up to 2 W. A busy client needs at least a second. A frozen waiter delays the
// other waiters by the duration of a claim. So a claim is not longer than necessary.
func (c Config) Claim() time.Duration {
	return max(Claim, (2*c.Window + c.Window/2).Round(time.Millisecond))
}

// stayPeriod is the time for which scripts leave the expiry (PX) of a record in use as it is. Tokens of one such period
// have the same first eight of their sixteen digits, and scripts compare these digits.
const stayPeriod = 100 * time.Second

// Stays returns the expiry (PX) that scripts give to a record. When the lease expires or is released, at least
// RecordKept of that time is left. Until then three times may pass: a stayPeriod without a new PX, another stayPeriod
// by which a token may be ahead of or behind the clock, and one lease that was never renewed.
func (c Config) Stays() time.Duration {
	return (RecordKept + 2*stayPeriod + 2*c.Quarantine()).Round(time.Millisecond)
}
