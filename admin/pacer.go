package admin

import (
	"context"
	"time"
)

// pacer spreads requests to nodes evenly over time, so that no node has to answer many of them in a row. Callers are
// served in the order in which they came. It is safe for concurrent use.
type pacer struct {
	every time.Duration // the time between two requests to a node
	turns []chan struct{}
	free  []time.Time // by node: the time from which the next request may be sent; its turn guards it
}

// late is the longest delay that later requests make up for. Timers are often late by a millisecond. Without this bound
// a process that was stopped for a while would send many requests in a row.
const late = 2 * time.Millisecond

// newPacer returns a pacer for n nodes, with a rate of requests per second to each node.
func newPacer(n, rate int) *pacer {
	p := &pacer{every: time.Second / time.Duration(rate), turns: make([]chan struct{}, n), free: make([]time.Time, n)}
	for i := range p.turns {
		p.turns[i] = make(chan struct{}, 1)
	}
	return p
}

// wait waits until a request to all these nodes may be sent, and returns true. If ctx ends earlier, it returns false.
// nodes is in ascending order: callers that take several turns then wait for no caller that waits for them.
func (p *pacer) wait(ctx context.Context, nodes ...int) bool {
	var at time.Time
	for _, i := range nodes {
		select {
		case p.turns[i] <- struct{}{}:
			defer func() { <-p.turns[i] }()
		case <-ctx.Done():
			return false
		}
		if p.free[i].After(at) {
			at = p.free[i]
		}
	}
	if now := time.Now(); at.Before(now) {
		at = now
	}
	if !until(ctx, at) {
		return false
	}
	if earliest := time.Now().Add(-late); at.Before(earliest) {
		at = earliest
	}
	for _, i := range nodes {
		p.free[i] = at.Add(p.every)
	}
	return true
}

// until waits until a time, and returns true. If ctx ends earlier, it returns false.
func until(ctx context.Context, at time.Time) bool {
	if ctx.Err() != nil {
		return false
	}
	wait := time.Until(at)
	if wait <= 0 {
		return true
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
