package nodescript

import (
	"fmt"
	"time"
)

// Protocol is the version of what nodes store and mean. Clients of two versions
// do not share a node set.
const Protocol = 1

// Config is what all clients of a node set must agree on. A node that votes under
// one configuration refuses clients of another.
type Config struct {
	N       int           // how many nodes the set has
	MaxTTL  time.Duration // no lease is granted or renewed for longer
	Window  time.Duration // W: how far a stamp may be from a node's clock
	Durable bool          // every node keeps its data over a restart (appendfsync always)
	Cluster string        // the node set's name
}

// String is the configuration as nodes keep it and people read it.
func (c Config) String() string {
	durable := "no"
	if c.Durable {
		durable = "yes"
	}
	return fmt.Sprintf("protocol=%d nodes=%d max-ttl=%s window=%s durable=%s cluster=%s",
		Protocol, c.N, c.MaxTTL, c.Window, durable, c.Cluster)
}

// Quarantine is how long a node that may have forgotten locks does not vote: until
// every lock it may have granted is over.
func (c Config) Quarantine() time.Duration { return c.MaxTTL + c.Window }

// TrustedQuarantine is what remains of it where an operator vouches that no lock is
// alive: as much as with the shortest MaxTTL, 8 W. Tokens must still rise above those that
// were granted before, by stamps that were ahead: docs/protocol.md, Tokens after a voucher.
func (c Config) TrustedQuarantine() time.Duration { return 9 * c.Window }

// Claim is how long a name that was handed to a waiter is reserved for it: until the news are there and its acquire is
// back, which a window lets take up to 2 W; and a second at least, for clients that are busy. One that is frozen costs those who
// wait behind it that time, so it is no longer than that.
func (c Config) Claim() time.Duration {
	return max(Claim, (2*c.Window + c.Window/2).Round(time.Millisecond))
}

// stayPeriod is for how long the PX of a record in use need not be set again: scripts
// compare the first eight of sixteen digits of two tokens.
const stayPeriod = 100 * time.Second

// Stays is the PX of a record. At least RecordKept of it is left when a lease has expired
// or was given back: since it was set there may have passed a period, another one that a
// token is ahead of the clock or behind it, and a lease that was not renewed.
func (c Config) Stays() time.Duration {
	return (RecordKept + 2*stayPeriod + 2*c.Quarantine()).Round(time.Millisecond)
}
