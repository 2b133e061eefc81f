package holdfast

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/verdict"
)

// Now returns the time by the clocks of a majority of the nodes, in UTC. Machines with wrong clocks get nearly the
// same time from it. Two clients of the same nodes differ by less than 1.5 × Window, and usually by far less. Fencing
// tokens use the same time: [Lease.Fence] is a time of Now in µs. Package job computes ticks from it.
//
// The first call asks the nodes. Later calls use the client's own steady clock to continue that time, and send
// nothing. The client reads the nodes' clocks again from time to time.
//
// The error matches [ErrUnavailable] if the clocks of a majority are not known, or if these clocks were just set to
// another time.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	if c.closed.Load() {
		return time.Time{}, fmt.Errorf("holdfast: time of the nodes: %w", ErrClosed)
	}
	said := c.fan.Settle(ctx)
	us, _, err := c.fan.Time()
	if err == nil {
		return time.UnixMicro(us).UTC(), nil
	}
	if ctx.Err() != nil {
		return time.Time{}, fmt.Errorf("holdfast: time of the nodes: %w", ending.Cause(ctx))
	}
	if said == nil {
		said = make([]nodescript.Answer, c.fan.N())
	}
	return time.Time{}, fmt.Errorf("holdfast: time of the nodes: %w", c.unavailable("", 0, c.said.All(func(nodescript.Answer) string { return "" }, said, err)))
}

// Value returns the value that the holders of a lock store with [Lease.Store]. It does not take the lock. It returns
// nil if there is no value. Use it for people and dashboards only. It may return a value whose Store is not complete.
// If this Store fails, the value may disappear again. [Lease.Load] is the call with a guarantee.
//
// The error matches [ErrUnavailable] if too few nodes answered. A node with other settings counts as missing.
func (c *Client) Value(ctx context.Context, name string) ([]byte, error) {
	m := c.Mutex(name)
	if err := checkName(m.lock.Name()); err != nil {
		return nil, m.prefix(err)
	}
	if c.closed.Load() {
		return nil, m.prefix(ErrClosed)
	}
	var values []*nodescript.Stored
	var errs []error
	strange := c.lookAt(ctx, func() { values, errs = c.fan.Peek(ctx, m.lock.Lock()) })
	if err := c.enough(ctx, name, errs, strange); err != nil {
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

// enough returns an error if less than a majority of the nodes answered. errs has the error of each node, or nil. The
// answers of nodes with other settings do not count: see lookAt.
func (c *Client) enough(ctx context.Context, name string, errs []error, strange []*verdict.Answer) error {
	un, ok := &UnavailableError{Name: name}, 0
	for i, err := range errs {
		n := verdict.Answer{Node: c.fan.Addr(i), Reason: verdict.ReasonDone, Met: c.fan.Answered(i)}
		switch {
		case strange[i] != nil:
			n = *strange[i]
		case err != nil:
			answers.Fail(&n, err)
		default:
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
