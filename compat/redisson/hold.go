package redisson

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/node"
)

// look is the longest time for which a deadline's timer sleeps. Go's timers stop while the host is suspended, and the
// client's clock does not: so a loss is noticed this long after the end of a suspension.
const look = time.Second

// hold is a lock that the nodes keep for this client: an attempt that won. Its leases are the handles of its users.
type hold struct {
	*attempt
	token int64
	ended chan struct{} // closed at the end
	round chan struct{} // has a token while a renewal is under way: one at a time

	mu       sync.Mutex // also guards the leases
	ttl      time.Duration
	deadline clock.Instant
	timer    *time.Timer
	end      error               // the reason of the end; nil before
	leases   map[*Lease]struct{} // in use: their number is the reentrant count
	renewal  []answer            // the answers to the last one, for a LostError
}

// newHold returns the hold of an attempt that a majority has granted, or nil if it is too late to rely on that.
func newHold(a *attempt, token int64) *hold {
	c := a.client
	h := &hold{
		attempt: a, token: token, ttl: c.config.TTL, deadline: a.sent.Add(validity(c.config.TTL)),
		ended: make(chan struct{}), round: make(chan struct{}, 1), leases: map[*Lease]struct{}{},
	}
	if c.now().Sub(h.deadline) >= 0 {
		return nil
	}
	h.mu.Lock()
	h.timer = time.AfterFunc(h.sleep(), h.check)
	h.mu.Unlock()
	c.mu.Lock()
	c.holds[h] = struct{}{}
	closed := c.closed
	c.mu.Unlock()
	if closed { // Close did not see it
		h.finish(errClosed)
		c.background(func() { h.freeAll(nil) })
		return h
	}
	c.background(h.keep)
	return h
}

// sleep returns the time until the deadline's timer has to look again.
func (h *hold) sleep() time.Duration { return min(h.deadline.Sub(h.client.now()), look) }

// check ends the hold at its deadline. It is the timer's function, so a renewal that hangs cannot delay it.
func (h *hold) check() {
	h.mu.Lock()
	if h.end != nil {
		h.mu.Unlock()
		return
	}
	if h.client.now().Sub(h.deadline) < 0 {
		h.timer.Reset(h.sleep())
		h.mu.Unlock()
		return
	}
	h.mu.Unlock()
	h.lose(false)
}

// keep renews the hold after each third of the TTL, as Redisson's watchdog does. After a failure it tries sooner.
func (h *hold) keep() {
	next := h.client.config.TTL / 3
	for {
		t := time.NewTimer(next)
		select {
		case <-t.C:
		case <-h.ended:
			t.Stop()
			return
		}
		err := h.renew(context.Background())
		h.mu.Lock()
		next = h.ttl / 3
		if err != nil {
			next = min(next, max(h.deadline.Sub(h.client.now())/8, 20*time.Millisecond))
		}
		h.mu.Unlock()
	}
}

// renew extends the hold on a majority, and writes the reentrant count. ctx bounds only the caller's wait: the round
// goes on, and counts if a majority agrees before the deadline.
func (h *hold) renew(ctx context.Context) error {
	select {
	case h.round <- struct{}{}:
	case <-h.ended:
		return h.cause()
	case <-ctx.Done():
		return ending.Cause(ctx)
	}
	result := make(chan error, 1)
	h.client.background(func() {
		defer func() { <-h.round }()
		result <- h.renewOnce()
	})
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ending.Cause(ctx)
	}
}

func (h *hold) renewOnce() error {
	c := h.client
	h.mu.Lock()
	ttl, count := h.ttl, max(len(h.leases), 1)
	h.mu.Unlock()
	sent := c.now()
	call := renewScript.call([]string{h.keys.name}, h.field, millis(ttl), strconv.Itoa(count))
	answers := c.ask(renewScript, func(int) node.Call { return call })
	all := make([]answer, len(c.config.Nodes))
	yes, no := 0, 0
	for range all {
		s := <-answers
		all[s.node] = s.answer
		switch s.verdict {
		case done:
			yes++
		case gone:
			no++
		}
		h.mu.Lock()
		h.renewal = slices.Clone(all)
		h.mu.Unlock()
		if yes >= c.quorum {
			return h.renewed(sent.Add(validity(ttl)))
		}
		if no > len(all)-c.quorum { // renewal can never succeed again: nothing gives those nodes the lock back
			return h.lose(true)
		}
	}
	if err := h.cause(); err != nil {
		return err
	}
	return &UnavailableError{Name: h.name, Nodes: c.texts(all)}
}

// renewed moves the deadline, never back.
func (h *hold) renewed(deadline clock.Instant) error {
	h.mu.Lock()
	if h.end != nil {
		defer h.mu.Unlock()
		return h.end
	}
	if h.client.now().Sub(h.deadline) >= 0 { // the answers came too late
		h.mu.Unlock()
		return h.lose(false)
	}
	defer h.mu.Unlock()
	if deadline.Sub(h.deadline) > 0 {
		h.deadline = deadline
	}
	return nil
}

// cause returns the reason of the end, or nil.
func (h *hold) cause() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.end
}

// lose ends the hold as lost. What is left of it on the nodes is removed.
func (h *hold) lose(isGone bool) error {
	h.mu.Lock()
	e := &LostError{Name: h.name, Gone: isGone}
	if h.renewal != nil {
		e.Nodes = h.client.texts(h.renewal)
	}
	h.mu.Unlock()
	if h.finish(e) {
		h.client.background(func() { h.freeAll(nil) })
	}
	return h.cause()
}

// finish ends the hold and the contexts of its leases. It returns false if the hold had ended before.
func (h *hold) finish(why error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.end != nil {
		return false
	}
	h.end = why
	h.timer.Stop()
	close(h.ended)
	for l := range h.leases {
		l.cancel(why)
	}
	h.client.mu.Lock()
	delete(h.client.holds, h)
	h.client.mu.Unlock()
	return true
}

// freeAll releases the lock on all nodes at once. Their first answers go to first.
func (h *hold) freeAll(first chan<- said) {
	for i := range h.client.config.Nodes {
		h.client.background(func() { h.freeNode(i, first) })
	}
}

// release ends the hold because of why, and tells the nodes. It returns nil if a majority confirmed.
func (h *hold) release(ctx context.Context, why error) error {
	if !h.finish(why) {
		return h.cause()
	}
	c := h.client
	first := make(chan said, len(c.config.Nodes))
	h.freeAll(first)
	all := make([]answer, len(c.config.Nodes))
	yes, no := 0, 0
	for range all {
		select {
		case s := <-first:
			all[s.node] = s.answer
			switch s.verdict {
			case done:
				yes++
			case gone:
				no++
			}
		case <-ctx.Done():
			return ending.Cause(ctx)
		}
		if yes >= c.quorum {
			return nil
		}
		if no > len(all)-c.quorum {
			return &LostError{Name: h.name, Gone: true, Nodes: c.texts(all)}
		}
	}
	return &UnavailableError{Name: h.name, Nodes: c.texts(all)}
}

// live reports whether err is no end of a lease.
func live(err error) bool {
	return !errors.Is(err, holdfast.ErrLost) && !errors.Is(err, holdfast.ErrReleased)
}
