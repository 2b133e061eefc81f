package holdfast

import (
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
	c.inside.Fan, c.inside.Said, c.inside.Prefix, c.inside.MaxTTL = c.fan, c.said, c.config.Prefix, c.config.MaxTTL
	c.inside.Lock = func(name string) nodescript.Lock { return c.Mutex(name).lock.Lock() }
	c.inside.Strange, c.inside.LookAt, c.inside.Enough, c.inside.Ended, c.inside.Emit = c.strange, c.lookAt, c.enough, ended, c.events.Emit
	c.inside.Unavailable = func(name string, slots int, nodes []verdict.Answer) error { return c.unavailable(name, slots, nodes) }
	c.inside.Unconfirmed = func(lease any) { lease.(*Lease).unconfirmed() }
}
