package redisson

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/internal/client"
	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Client takes locks that Redisson, the Java client, can see. One Client per process is enough. It is safe for
// concurrent use.
type Client struct {
	config  Config
	id      string // random UUID, in the form of a RedissonClient's id
	quorum  int
	threads atomic.Int64 // number of the last attempt; it takes the place of Java's thread id
	now     clock.Clock
	tasks   *client.Tasks

	mu     sync.Mutex
	closed bool
	lines  map[string]*line
	holds  map[*hold]struct{}
}

// New returns a client. It does not use the network. If a value is bad, the error names the field, the value and the
// bound.
func New(config Config) (*Client, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Client{
		config: config,
		id:     newID(),
		quorum: len(config.Nodes)/2 + 1,
		now:    clock.Steady(),
		tasks:  client.NewTasks(),
		lines:  map[string]*line{},
		holds:  map[*hold]struct{}{},
	}, nil
}

// ID returns the client's random id, a UUID like that of a RedissonClient. The servers store each holder of this
// client as ID:number.
func (c *Client) ID() string { return c.id }

// Close ends all waits, releases all leases, and closes the nodes. It waits for the nodes for up to twice
// [Config.NodeTimeout]. It does not wait for the work under the leases. If a majority of the nodes did not confirm
// the release of a lease, Close returns an error, and that lock ends with its TTL. Later calls return
// [holdfast.ErrClosed].
func (c *Client) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return fmt.Errorf("redisson: close: %w", holdfast.ErrClosed)
	}
	c.closed = true
	c.tasks.Close()
	var all []client.Release
	for h := range c.holds {
		all = append(all, h.release)
	}
	for _, l := range c.lines {
		l.stop()
	}
	c.mu.Unlock()

	if err := client.Close(c.tasks, all, c.config.NodeTimeout, c.config.Nodes...); err != nil {
		return fmt.Errorf("redisson: close: %w", err)
	}
	return nil
}
