package client

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/compat/internal/holding"
)

const (
	defaultTTL         = 30 * time.Second // lockWatchdogTimeout of Redisson
	defaultNodeTimeout = 500 * time.Millisecond
	leastNodeTimeout   = time.Millisecond
)

// Or sets d to value if it is zero.
func Or(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// Default sets a TTL and a node timeout to their defaults if they are zero.
func Default(ttl, nodeTimeout *time.Duration) {
	Or(ttl, defaultTTL)
	Or(nodeTimeout, max(min(defaultNodeTimeout, *ttl/2), leastNodeTimeout))
}

// CheckTimes returns an error that names the field, the value and the bound, or nil. The caller has checked ttl.
func CheckTimes(ttl, poll, leastPoll, nodeTimeout time.Duration) error {
	if err := holding.CheckTTL("Poll", poll, leastPoll); err != nil {
		return err
	}
	if nodeTimeout < leastNodeTimeout || nodeTimeout > ttl/2 {
		return fmt.Errorf("NodeTimeout is %s; it must be from %s to half of TTL = %s", nodeTimeout, leastNodeTimeout, ttl/2)
	}
	return nil
}
