package failover

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
)

// court judges the leases of all clients of a node. Its methods are safe for concurrent use.
type court struct {
	mu       sync.Mutex
	holders  map[string]*holdfast.Lease
	tokens   map[string]int64 // the highest token of each name
	grants   []time.Time
	lost     []time.Time // when each lost lease ended
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
	c.grants = append(c.grants, now)
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

// grantAfter waits for the first grant after an instant, and returns its time.
func (c *court) grantAfter(ctx context.Context, after time.Time) (time.Time, bool) {
	for ctx.Err() == nil {
		c.mu.Lock()
		for _, g := range c.grants {
			if g.After(after) {
				c.mu.Unlock()
				return g, true
			}
		}
		c.grants = c.grants[:0]
		c.mu.Unlock()
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return time.Time{}, false
}
