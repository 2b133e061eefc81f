package setnx

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/internal/client"
	"github.com/holdfast-go/holdfast/compat/internal/holding"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/node"
)

// Client takes locks of the old pattern. One client per process is enough. It is safe for concurrent use.
type Client struct {
	config Config
	now    clock.Clock
	tasks  *client.Tasks

	mu     sync.Mutex
	closed bool
	lines  map[string]*line
	leases map[string]*Lease // by key
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
		now:    clock.Steady(),
		tasks:  client.NewTasks(),
		lines:  map[string]*line{},
		leases: map[string]*Lease{},
	}, nil
}

// Close ends every wait, releases every lease, and closes the node. It waits for the server for up to twice
// [Config.NodeTimeout], and does not wait for the work under the leases. It returns an error if the server did not
// confirm the release of a lease; that lock ends with its TTL. Later calls return [holdfast.ErrClosed].
func (c *Client) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return fmt.Errorf("setnx: close: %w", holdfast.ErrClosed)
	}
	c.closed = true
	c.tasks.Close()
	var all []client.Release
	for _, l := range c.leases {
		all = append(all, l.release)
	}
	c.mu.Unlock()

	if err := client.Close(c.tasks, all, c.config.NodeTimeout, c.config.Node); err != nil {
		return fmt.Errorf("setnx: close: %w", err)
	}
	return nil
}

// ask sends a call to the server, which has [Config.NodeTimeout] for its answer. The call does not end with the
// caller's context: an acquire that was given up half-way would leave a lock behind.
func (c *Client) ask(s client.Script, key string, args ...string) answer {
	ctx, cancel := context.WithTimeout(context.Background(), c.config.NodeTimeout)
	defer cancel()
	return parse(s.Run(ctx, c.config.Node, s.Call([]string{key}, args...)))
}

// bid tries once. If ctx ends first, bid releases a grant in the background.
func (c *Client) bid(ctx context.Context, name, key string) (l *Lease, err error) {
	c.tasks.Do(func() { l, err = c.try(ctx, name, key) }) // Close waits until a grant is held or given back
	return l, err
}

func (c *Client) try(ctx context.Context, name, key string) (*Lease, error) {
	sent := c.now()
	got := make(chan answer, 1)
	c.tasks.Go(func() {
		got <- c.ask(acquireScript, key, millisecondsOf(c.config.TTL), c.config.Unit.code(), millisecondsOf(c.config.Skew))
	})
	select {
	case a := <-got:
		return c.outcome(ctx, name, key, sent, a)
	case <-ctx.Done():
		c.tasks.Go(func() {
			if a := <-got; a.verdict == granted {
				c.free(key, own(a.value), c.config.TTL, nil)
			}
		})
		return nil, ending.Cause(ctx)
	}
}

// outcome returns the lease of a grant, or the reason of a refusal.
func (c *Client) outcome(ctx context.Context, name, key string, sent clock.Instant, a answer) (*Lease, error) {
	switch a.verdict {
	case granted:
		if l := c.newLease(ctx, name, key, a.value, sent); l != nil {
			if err := l.holding.End(); err != nil { // Close came first
				return nil, err
			}
			return l, nil
		}
		c.tasks.Go(func() { c.free(key, own(a.value), c.config.TTL, nil) }) // the answer came too late to rely on it
		return nil, &UnavailableError{Name: name, Node: c.config.Node.Addr() + ": the answer came after the TTL"}
	case held:
		c.mu.Lock()
		own := c.leases[key] != nil
		c.mu.Unlock()
		return nil, &HeldError{Name: name, Value: a.value, ExpiresIn: a.left, own: own}
	case foreign:
		return nil, &ForeignError{Name: name, Key: key, Type: a.kind, Value: a.value, ExpiresIn: a.left}
	}
	return nil, &UnavailableError{Name: name, Node: c.failure(a)}
}

func (c *Client) failure(a answer) string {
	if a.err == nil {
		return c.config.Node.Addr() + ": an answer of another call"
	}
	return c.config.Node.Addr() + ": " + node.Reason(a.err)
}

// release is the release of one lease.
type release struct {
	values []string // the lease's value, and later ones that it may have written
	mode   string   // the first argument of the script
}

// own is the release of a lease that has written one value.
func own(value string) release { return release{values: []string{value}, mode: "own"} }

// free sends a release. The first answer goes to first. If the server got no request, free repeats it. A request whose
// answer was lost may have been executed, and the next holder may have written an equal value. So free then deletes the
// value only after the time in it has passed, because it protects nobody then. lasts is the TTL of the value from now
// on. Without an answer, free gives up when no client respects the value any more.
func (c *Client) free(key string, r release, lasts time.Duration, first chan<- answer) {
	until := c.now().Add(lasts + time.Second + c.config.Skew) // a value in seconds lasts up to a second longer than its TTL
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		a := c.ask(releaseScript, key, append([]string{r.mode, millisecondsOf(c.config.Skew)}, r.values...)...)
		if first != nil {
			first <- a
			first = nil
		}
		switch {
		case a.verdict == held:
			if !c.tasks.Pause(min(a.left, holding.MostTTL) + time.Millisecond) {
				return
			}
			until = c.now().Add(c.config.TTL) // the value protects nobody any more
		case a.verdict != silent || c.now().Sub(until) > 0 || !c.tasks.Pause(pause):
			return
		}
		if a.verdict == silent && !node.Unsent(a.err) {
			r.mode = "ended"
		}
	}
}

func millisecondsOf(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// mode is the first argument of renew and release.
func mode(race bool) string {
	if race {
		return "race"
	}
	return "own"
}
