package setnx

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/compat/internal/client"
	"github.com/holdfast-go/holdfast/compat/internal/holding"
	"github.com/holdfast-go/holdfast/node"
)

// Bounds and defaults of [Config].
const (
	defaultSkew = time.Second
	mostSkew    = time.Hour
	defaultPoll = 100 * time.Millisecond
	leastPoll   = time.Millisecond
)

// NoSkew means a Skew of zero: all clocks show the same time.
const NoSkew = -1

// Config contains the settings of a [Client]. Only Node has no default.
type Config struct {
	// Node is the server of the locks. The client closes it.
	Node node.Node

	// TTL is the time that the lock's value is ahead of the server's clock after each renewal. From 100ms to 24h, and
	// at least three times Skew. Defaults to 30s.
	TTL time.Duration

	// Unit is the unit of the values that this client writes. Set it to the unit of the old clients. If this client
	// writes seconds and an old client reads milliseconds, every lock looks expired to the old client, and it takes the
	// lock. Defaults to Seconds.
	Unit Unit

	// Skew is the largest difference between an old client's clock and the server's. This client relies on a lock for
	// the TTL minus Skew, and takes an expired lock only when Skew has passed since its end. At most 1h. NoSkew means
	// zero. Defaults to 1s, or a third of TTL if that is less.
	Skew time.Duration

	// MapName returns the key of a name, for example with the prefix of the old clients.
	// Defaults to the name itself.
	MapName func(name string) string

	// Poll is the longest time between two tries of a waiter. Nobody sends a message when a lock is free. From 1ms to
	// 24h. Defaults to 100ms.
	Poll time.Duration

	// NodeTimeout is the time that the server has for its answer. From 1ms to half of TTL.
	// Defaults to 500ms, or half of TTL if that is less.
	NodeTimeout time.Duration
}

// withDefaults returns c with defaults for zero values, or an error that names the field, the value and the bound.
func (c Config) withDefaults() (Config, error) {
	client.Default(&c.TTL, &c.NodeTimeout)
	client.Or(&c.Skew, min(defaultSkew, c.TTL/3))
	client.Or(&c.Poll, defaultPoll)
	if c.Skew == NoSkew {
		c.Skew = 0
	}
	if c.MapName == nil {
		c.MapName = client.Same
	}
	if c.Node == nil {
		return c, bad("Node is nil; it must be the server of the locks")
	}
	if c.Unit > FloatSeconds {
		return c, bad("Unit is %s; it must be Seconds, Milliseconds or FloatSeconds", c.Unit)
	}
	if c.Skew < 0 || c.Skew > mostSkew {
		return c, bad("Skew is %s; it must be from 0 (NoSkew) to %s", c.Skew, mostSkew)
	}
	if err := c.checkTTL(c.TTL); err != nil {
		return c, bad("%w", err)
	}
	if err := client.CheckTimes(c.TTL, c.Poll, leastPoll, c.NodeTimeout); err != nil {
		return c, bad("%w", err)
	}
	return c, nil
}

// checkTTL bounds a TTL. A TTL of less than three times Skew would leave too little time between two renewals.
func (c Config) checkTTL(ttl time.Duration) error {
	if err := holding.CheckTTL("TTL", ttl, holding.LeastTTL); err != nil {
		return err
	}
	if ttl < 3*c.Skew {
		return fmt.Errorf("TTL is %s; with a Skew of %s it must be at least %s", ttl, c.Skew, 3*c.Skew)
	}
	return nil
}

// validity is the time for which a holder relies on a lock, from the moment before the request was sent. The validity
// is shorter by Skew, because a client whose clock is ahead by Skew takes the lock before its end.
func (c Config) validity(ttl time.Duration) time.Duration { return holding.Validity(ttl) - c.Skew }

func bad(format string, args ...any) error {
	return fmt.Errorf("setnx: bad configuration: "+format, args...)
}
