package bids

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// holding is a lease, for as long as its holder relies on it.
type holding struct {
	lease bid.Lease
	ended bool
}

// breaks notes the first broken promise.
func (w *World) breaks(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf("%s: ", time.Duration(w.now)) + fmt.Sprintf(format, args...)
	}
}

// holds notes a lease. A writer relies on the lock beside nobody. Its token is greater than all before it, and a
// reader's is greater than those of all writers before it.
func (w *World) holds(b *bidding, l bid.Lease) *holding {
	reader, beside := nodescript.IsReader(l.Owner), false
	w.holders = slices.DeleteFunc(w.holders, func(h *holding) bool { return h.ended || w.now >= h.lease.Deadline })
	for _, h := range w.holders {
		if beside = true; !reader || !nodescript.IsReader(h.lease.Owner) {
			w.breaks("two holders: %s won while %s relies on the lock for another %s", l.Owner, h.lease.Owner, h.lease.Deadline.Sub(w.now))
		}
	}
	least := w.token
	if reader {
		least = w.written
	}
	if l.Token <= least {
		w.breaks("the token %d of %s follows the token %d", l.Token, b.machine.Owner, least)
	}
	if w.Won++; beside {
		w.Shared++
	}
	if w.token = max(w.token, l.Token); !reader {
		w.written = l.Token
	}
	h := &holding{lease: l}
	w.holders = append(w.holders, h)
	return h
}

func (w *World) lets(h *holding) { h.ended = true }

// servedWithin is how soon after the faults every waiter is served: the last holder may have crashed, and its lease and
// a few claims must end.
func (w *World) servedWithin() time.Duration { return w.ttl + window + 10*time.Second }

// judgeServed checks that messages that flow make some bid win, and so let everybody have the lock.
func (w *World) judgeServed() {
	for _, c := range w.clients {
		if n := len(c.line); n > 0 {
			w.breaks("nobody wins: %d waiters of %s are not served %s after the faults", n, c.id, w.servedWithin())
		}
	}
}

// cleanWithin is how soon after the last wait the nodes keep nothing. A request that failed is repeated once a second.
func (w *World) cleanWithin() time.Duration {
	if w.crashes {
		return w.ttl + 2*window
	}
	return 2 * time.Second
}

// judgeLeftovers checks that nothing is left on the nodes: no lease, no claim, and if queues is true no place in a
// queue. A question that arrives twice may join a queue after the release of its bid. The node then keeps this place for
// as long as a waiter that asks nothing. A hand-off to it is declined.
func (w *World) judgeLeftovers(queues bool) {
	for i, s := range w.servers {
		if owner, queue := s.keeps(); owner != "" || queues && len(queue) > 0 {
			w.breaks("left behind on node %d: owner %q, queue %s", i, owner, strings.Join(queue, " "))
		}
	}
}
