package holdfast

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Now returns the time by the clocks of a majority of the nodes, in UTC. Machines whose own clocks are wrong agree on
// it: two clients whose nodes are the same differ by less than 1.5 × Window, and by far less if the nodes' clocks are
// right. It is the time of fencing tokens: [Lease.Fence] is a time of Now in µs. Package job computes ticks from it.
//
// The first call asks the nodes. Later calls continue that time with the client's steady clock, and send nothing; the
// client reads the nodes' clocks again now and then.
//
// The error matches [ErrUnavailable] if no majority of clocks is known, or if their clocks have just moved.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	if c.closed.Load() {
		return time.Time{}, fmt.Errorf("holdfast: time of the nodes: %w", ErrClosed)
	}
	answers := c.fan.Settle(ctx)
	us, _, err := c.fan.Time()
	if err == nil {
		return time.UnixMicro(us).UTC(), nil
	}
	if ctx.Err() != nil {
		return time.Time{}, fmt.Errorf("holdfast: time of the nodes: %w", ending.Cause(ctx))
	}
	if answers == nil {
		answers = make([]nodescript.Answer, c.fan.N())
	}
	return time.Time{}, fmt.Errorf("holdfast: time of the nodes: %w", c.unavailable("", 0, c.answers(func(nodescript.Answer) string { return "" }, answers, err)))
}

// Value returns the value that the holders of a lock keep with [Lease.Store], without the lock. It returns nil if there
// is none. It is for people and dashboards: a store that is under way may or may not be seen, and a value of a store that
// failed may be seen and then disappear. Only [Lease.Load] has the promise of a value.
//
// The error matches [ErrUnavailable] if too few nodes answered.
func (c *Client) Value(ctx context.Context, name string) ([]byte, error) {
	m := c.Mutex(name)
	if err := checkName(m.lock.Name()); err != nil {
		return nil, m.prefix(err)
	}
	if c.closed.Load() {
		return nil, m.prefix(ErrClosed)
	}
	values, errs := c.fan.Peek(ctx, m.lock.Lock())
	if err := c.enough(ctx, name, errs); err != nil {
		return nil, m.prefix(err)
	}
	var last *nodescript.Stored
	for _, v := range values {
		if v != nil && (last == nil || v.Version.Compare(last.Version) > 0) {
			last = v
		}
	}
	if last == nil || last.None {
		return nil, nil
	}
	return append([]byte{}, last.Bytes...), nil
}

// NamesWithValue returns the names of the locks that have a value, sorted, without [Config.Prefix]. It reads all keys of
// the nodes, some at a time. The error matches [ErrUnavailable] if too few nodes answered.
func (c *Client) NamesWithValue(ctx context.Context) ([]string, error) {
	if c.closed.Load() {
		return nil, fmt.Errorf("holdfast: names with a value: %w", ErrClosed)
	}
	lists, errs := c.fan.Valued(ctx)
	if err := c.enough(ctx, "", errs); err != nil {
		return nil, fmt.Errorf("holdfast: names with a value: %w", err)
	}
	var names []string
	for _, list := range lists {
		for _, name := range list {
			if name, ok := strings.CutPrefix(name, c.config.Prefix); ok && name != "" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// enough returns an error unless a majority of the nodes answered.
func (c *Client) enough(ctx context.Context, name string, errs []error) error {
	un, ok := &UnavailableError{Name: name}, 0
	for i, err := range errs {
		n := NodeAnswer{Node: c.fan.Addr(i), Reason: ReasonDone}
		if err != nil {
			n.failed(err)
		} else {
			ok++
		}
		un.Nodes = append(un.Nodes, n)
	}
	switch {
	case ok >= quorum.Majority(len(errs)):
		return nil
	case ctx.Err() != nil:
		return ended(ctx, un)
	}
	return un
}
