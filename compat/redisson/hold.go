package redisson

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/internal/client"
	"github.com/holdfast-go/holdfast/compat/internal/holding"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/node"
)

// hold is a lock that this client has: an attempt that a majority granted. Its leases are the handles that callers
// have.
type hold struct {
	*attempt
	*holding.Holding
	token int64

	mu      sync.Mutex          // also guards the leases
	leases  map[*Lease]struct{} // leases in use; their number is the reentrant count
	renewal []answer            // answers to the last renewal, for a LostError
}

// newHold returns the hold of an attempt that a majority granted. It returns nil if the deadline has already passed.
func newHold(a *attempt, token int64) *hold {
	c := a.client
	h := &hold{attempt: a, token: token, leases: map[*Lease]struct{}{}}
	h.Holding = holding.New(holding.Rules{
		Now: c.now, Go: c.tasks.Go, First: c.config.TTL / 3, // as Redisson's watchdog
		Renew:   h.renewOnce,
		Expired: func() error { return h.lose(false) },
		Ended:   h.ended,
	}, c.config.TTL, a.sent.Add(holding.Validity(c.config.TTL)))
	if h.Holding == nil {
		return nil
	}
	c.mu.Lock()
	c.holds[h] = struct{}{}
	closed := c.closed
	c.mu.Unlock()
	if closed { // Close has not seen this hold, so release it here
		h.Finish(client.ErrClosed)
		c.tasks.Go(func() { h.freeAll(nil) })
		return h
	}
	h.Start()
	return h
}

// ended ends the contexts of the leases.
func (h *hold) ended(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	// The client forgets it first: a Close by a caller that saw the end of a context does not report this lease.
	h.client.mu.Lock()
	delete(h.client.holds, h)
	h.client.mu.Unlock()
	for l := range h.leases {
		l.cancel(why)
	}
}

// renewOnce extends the hold on a majority, and writes the reentrant count.
func (h *hold) renewOnce() error {
	c := h.client
	ttl := h.TTL()
	h.mu.Lock()
	count := max(len(h.leases), 1)
	h.mu.Unlock()
	sent := c.now()
	call := renewScript.Call([]string{h.keys.name, h.keys.reader}, h.field, millis(ttl), strconv.Itoa(count), h.mode())
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
			return h.Renewed(sent.Add(holding.Validity(ttl)))
		}
		if no > len(all)-c.quorum { // no renewal can succeed any more, because no request gives these nodes the lock again
			return h.lose(true)
		}
	}
	if err := h.End(); err != nil {
		return err
	}
	return &UnavailableError{Name: h.name, Nodes: c.texts(all)}
}

// lose ends the hold as lost, and deletes the rest of it on the nodes.
func (h *hold) lose(isGone bool) error {
	h.mu.Lock()
	e := &LostError{Name: h.name, Gone: isGone}
	if h.renewal != nil {
		e.Nodes = h.client.texts(h.renewal)
	}
	h.mu.Unlock()
	if h.Finish(e) {
		h.client.tasks.Go(func() { h.freeAll(nil) })
	}
	return h.End()
}

// lasts is the time for which a node may keep the lock from now on: an Extend may have set a longer TTL.
func (h *hold) lasts() time.Duration { return max(h.client.config.TTL, h.TTL(), h.Left()+h.Left()/50) }

// freeAll releases the lock on all nodes at the same time. The first answer of each node goes to first.
func (h *hold) freeAll(first chan<- said) {
	for i := range h.client.config.Nodes {
		h.client.tasks.Go(func() { h.freeNode(i, first, h.lasts()) })
	}
}

// release ends the hold with the cause why, and releases it on the nodes. It returns nil if a majority confirmed.
func (h *hold) release(ctx context.Context, why error) error {
	if !h.Finish(why) {
		return h.End()
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
