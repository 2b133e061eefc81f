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

// look is the longest time for which the timer of a deadline sleeps. Go's timers stop while the machine is suspended,
// but the client's clock goes on. With this limit, a hold notices within a second after a suspension that its
// deadline has passed.
const look = time.Second

// hold is a lock that this client has: an attempt that a majority granted. Its leases are the handles that callers
// have.
type hold struct {
	*attempt
	token int64
	ended chan struct{} // closed when the hold ends
	round chan struct{} // has an element while a renewal runs, so that only one runs at a time

	mu       sync.Mutex // also guards the leases
	ttl      time.Duration
	deadline clock.Instant
	timer    *time.Timer
	end      error               // why the hold ended; nil while it is valid
	leases   map[*Lease]struct{} // leases in use; their number is the reentrant count
	renewal  []answer            // answers to the last renewal, for a LostError
}

// newHold returns the hold of an attempt that a majority granted. It returns nil if the deadline has already passed.
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
	if closed { // Close has not seen this hold, so release it here
		h.finish(errClosed)
		c.background(func() { h.freeAll(nil) })
		return h
	}
	c.background(h.keep)
	return h
}

// sleep returns the time until check must look at the clock again.
func (h *hold) sleep() time.Duration { return min(h.deadline.Sub(h.client.now()), look) }

// check ends the hold at its deadline. A timer calls it, so a renewal that hangs cannot delay the end.
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

// keep renews the hold after each third of the TTL, as Redisson's watchdog does. After a failure it tries again
// sooner.
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

// renew extends the hold on a majority, and writes the reentrant count. If ctx ends, renew returns, but the renewal
// goes on in the background. It still moves the deadline if a majority answers in time.
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
		if no > len(all)-c.quorum { // no renewal can succeed any more, because no request gives these nodes the lock again
			return h.lose(true)
		}
	}
	if err := h.cause(); err != nil {
		return err
	}
	return &UnavailableError{Name: h.name, Nodes: c.texts(all)}
}

// renewed moves the deadline to a later time. It never moves it back.
func (h *hold) renewed(deadline clock.Instant) error {
	h.mu.Lock()
	if h.end != nil {
		defer h.mu.Unlock()
		return h.end
	}
	if h.client.now().Sub(h.deadline) >= 0 { // the answers came after the deadline
		h.mu.Unlock()
		return h.lose(false)
	}
	defer h.mu.Unlock()
	if deadline.Sub(h.deadline) > 0 {
		h.deadline = deadline
	}
	return nil
}

// cause returns why the hold ended, or nil if it is valid.
func (h *hold) cause() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.end
}

// lose ends the hold as lost, and deletes the rest of it on the nodes.
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

// freeAll releases the lock on all nodes at the same time. The first answer of each node goes to first.
func (h *hold) freeAll(first chan<- said) {
	for i := range h.client.config.Nodes {
		h.client.background(func() { h.freeNode(i, first) })
	}
}

// release ends the hold with the cause why, and releases it on the nodes. It returns nil if a majority confirmed.
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

// live reports whether a lease goes on after err: err is neither a loss nor a release.
func live(err error) bool {
	return !errors.Is(err, holdfast.ErrLost) && !errors.Is(err, holdfast.ErrReleased)
}
