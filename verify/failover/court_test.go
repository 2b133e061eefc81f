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
	alive    bool             // the former master lives, and may still answer clients
	ofAlive  int              // the number of overlaps with leases of a former master that lived
	overlaps []string         // all others
	back     int              // the number of leases with a token that is not higher than the one before
}

func newCourt() *court {
	return &court{holders: map[string]*holdfast.Lease{}, tokens: map[string]int64{}}
}

// took notes a lease. The caller calls it before anything else, and holds nothing in between.
func (c *court) took(name string, l *holdfast.Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.holders[name] = l }()
	now := time.Now()
	if other := c.holders[name]; other != nil && other.Context().Err() == nil && l.Context().Err() == nil {
		if c.alive {
			c.ofAlive++ // docs/guide/limits.md names this case
			return
		}
		c.overlaps = append(c.overlaps, now.Format("15:04:05.000")+" "+name+": tokens "+
			time.UnixMicro(other.Fence()).Format("15:04:05.000")+" and "+time.UnixMicro(l.Fence()).Format("15:04:05.000"))
	}
	if l.Fence() <= c.tokens[name] {
		c.back++
	}
	c.tokens[name] = max(c.tokens[name], l.Fence())
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

// gapUntil waits for the first grant of the prober after an instant. It returns its time, and the time of the grant
// before it, at least began.
func (c *court) gapUntil(ctx context.Context, began, after time.Time) (from, to time.Time, ok bool) {
	for ctx.Err() == nil {
		from = began
		c.mu.Lock()
		for _, g := range c.grants {
			if g.After(after) {
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
