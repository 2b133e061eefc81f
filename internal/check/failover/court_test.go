package failover

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
)

// probed is the name that is taken again and again, to find out when locks are available.
const probed = "probed"

// court judges the leases of all clients of a node. Its methods are safe for concurrent use.
type court struct {
	mu       sync.Mutex
	holders  map[string]*holdfast.Lease
	tokens   map[string]int64 // the highest token of each name
	grants   []time.Time      // of the name probed
	lost     []time.Time      // when each lost lease ended
	overlaps []string
	back     int // the number of leases with a token that is not higher than the one before
}

func newCourt() *court {
	return &court{holders: map[string]*holdfast.Lease{}, tokens: map[string]int64{}}
}

// took notes a lease. The caller calls it before anything else, and holds nothing in between.
func (c *court) took(name string, l *holdfast.Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if other := c.holders[name]; other != nil && other.Context().Err() == nil && l.Context().Err() == nil {
		c.overlaps = append(c.overlaps, now.Format("15:04:05.000")+" "+name+": tokens "+
			time.UnixMicro(other.Fence()).Format("15:04:05.000")+" and "+time.UnixMicro(l.Fence()).Format("15:04:05.000"))
	}
	if l.Fence() <= c.tokens[name] {
		c.back++
	}
	c.tokens[name] = max(c.tokens[name], l.Fence())
	c.holders[name] = l
	if name == probed {
		c.grants = append(c.grants, now)
	}
}

// leaves notes that a holder is about to give its lease back, or that it has lost it.
func (c *court) leaves(name string, l *holdfast.Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.Context().Err() != nil {
		c.lost = append(c.lost, time.Now())
	}
	if c.holders[name] == l {
		c.holders[name] = nil
	}
}

// gapAfter waits for a grant of the prober that ends a gap of at least least, and returns its begin and its end. The
// gap begins with the instant began or later.
func (c *court) gapAfter(ctx context.Context, began time.Time, least time.Duration) (from, to time.Time, ok bool) {
	for ctx.Err() == nil {
		from = began
		c.mu.Lock()
		for _, g := range c.grants {
			if g.Sub(from) >= least {
				c.mu.Unlock()
				return from, g, true
			}
			if g.After(from) {
				from = g
			}
		}
		c.mu.Unlock()
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return from, to, false
}
