package redisson

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// errClosed is the end of a lease that Close released.
var errClosed = fmt.Errorf("%w: %w", holdfast.ErrClosed, holdfast.ErrReleased)

// Client takes locks of Redisson's layout. One client per process is enough. It is safe for concurrent use.
type Client struct {
	config  Config
	id      string // as the id of a RedissonClient
	quorum  int
	threads atomic.Int64 // the last "thread id" that an attempt got
	now     clock.Clock
	closing chan struct{} // closed by Close

	mu      sync.Mutex
	closed  bool
	lines   map[string]*line
	holds   map[*hold]struct{}
	running int           // background work
	idle    chan struct{} // closed when running gets 0 during Close
}

// New returns a client. It does not use the network. The error names the field, the value and the bound.
func New(config Config) (*Client, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Client{
		config:  config,
		id:      newID(),
		quorum:  len(config.Nodes)/2 + 1,
		now:     clock.Steady(),
		closing: make(chan struct{}),
		lines:   map[string]*line{},
		holds:   map[*hold]struct{}{},
	}, nil
}

// ID returns the client's random id, a UUID as Redisson's. Each holder of this client is stored as ID:number.
func (c *Client) ID() string { return c.id }

// Close ends every wait, releases every lease, and closes the nodes. It waits for the nodes for up to twice
// [Config.NodeTimeout], and does not wait for the work under the leases. It returns an error if a majority of the nodes
// did not confirm the release of a lease; that lock ends with its TTL. Later calls return [holdfast.ErrClosed].
func (c *Client) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return fmt.Errorf("redisson: close: %w", holdfast.ErrClosed)
	}
	c.closed = true
	close(c.closing)
	var held []*hold
	for h := range c.holds {
		held = append(held, h)
	}
	for _, l := range c.lines {
		l.stop()
	}
	c.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.Background(), 2*c.config.NodeTimeout)
	defer cancel()
	results := make(chan error, len(held))
	for _, h := range held {
		go func() { results <- h.release(ctx, errClosed) }()
	}
	var all []error
	for range held {
		if err := <-results; err != nil && !errors.Is(err, holdfast.ErrReleased) {
			all = append(all, err)
		}
	}
	c.settle(ctx)
	for _, n := range c.config.Nodes {
		n.Close()
	}
	if len(all) > 0 {
		return fmt.Errorf("redisson: close: %w", errors.Join(all...))
	}
	return nil
}

// background runs f on a goroutine that Close waits for.
func (c *Client) background(f func()) {
	c.mu.Lock()
	c.running++
	c.mu.Unlock()
	go func() {
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.running--; c.running == 0 && c.idle != nil {
				close(c.idle)
				c.idle = nil
			}
		}()
		f()
	}()
}

// settle waits for the end of all background work, or for the end of ctx.
func (c *Client) settle(ctx context.Context) {
	c.mu.Lock()
	idle := make(chan struct{})
	if c.running == 0 {
		close(idle)
	} else {
		c.idle = idle
	}
	c.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// pause waits for d. It returns false if Close comes first.
func (c *Client) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.closing:
		return false
	}
}
