package holdfast

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/inside"
	"github.com/holdfast-go/holdfast/verdict"
)

// Packages around the lock, such as election, need more of a client than users do: see package inside.
func init() {
	inside.Register(func(client any) *inside.Client { return &client.(*Client).inside })
	inside.BadField = badField
}

// openInside fills the part of a new client that other packages of Holdfast use.
func (c *Client) openInside() {
	c.inside.Stop, c.inside.Closed, c.inside.NodeTimeout = c.stop, c.closed.Load, c.config.NodeTimeout
	c.inside.Mutex = func(mutex any) (time.Duration, error) {
		m := mutex.(*Mutex)
		return m.ttl, m.bad
	}
	c.inside.Prefix, c.inside.MaxTTL = c.config.Prefix, c.config.MaxTTL
	c.inside.Sets = func(ctx context.Context) ([]inside.Set, error) {
		sets, err := c.reachAll(ctx)
		if err != nil {
			return nil, err
		}
		var all []inside.Set
		for _, s := range sets {
			all = append(all, s.inside())
		}
		return all, nil
	}
	c.inside.Set = func(ctx context.Context, name string) (inside.Set, error) {
		s, err := c.reach(ctx, c.Mutex(name))
		if err != nil {
			return inside.Set{}, err
		}
		return s.inside(), nil
	}
	c.inside.Lock = func(name string) nodescript.Lock { return c.Mutex(name).lock.Lock() }
	c.inside.Ended, c.inside.Emit = ended, c.events.Emit
	c.inside.Unavailable = func(name string, slots int, nodes []verdict.Answer) error { return c.unavailable(name, slots, nodes) }
	c.inside.Unconfirmed = func(lease any) { lease.(*Lease).unconfirmed() }
}

// inside returns what other packages of Holdfast use of a node set.
func (t *set) inside() inside.Set {
	return inside.Set{Fan: t.fan, Said: t.said, Strange: t.strange, LookAt: t.lookAt, Enough: t.enough}
}
