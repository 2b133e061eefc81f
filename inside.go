package holdfast

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/inside"
)

// Packages around the lock, such as election, need more of a client than users do: see package inside.
func init() {
	inside.Register(func(client any) *inside.Client { return &client.(*Client).inside })
}

// openInside fills the part of a new client that other packages of Holdfast use.
func (c *Client) openInside() {
	c.inside.Stop, c.inside.Closed, c.inside.NodeTimeout = c.stop, c.closed.Load, c.config.NodeTimeout
	c.inside.Mutex = func(mutex any) (time.Duration, error) {
		m := mutex.(*Mutex)
		return m.ttl, m.bad
	}
	c.inside.Unconfirmed = func(lease any) { lease.(*Lease).unconfirmed() }
}
