package bids

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
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

// holds notes a lease. At most one holder relies on the lock, and each token is greater than the last.
func (w *World) holds(b *bidding, l bid.Lease) *holding {
	if h := w.holder; h != nil && !h.ended && w.now < h.lease.Deadline {
		w.breaks("two holders: %s won while %s relies on the lock for another %s", l.Owner, h.lease.Owner, h.lease.Deadline.Sub(w.now))
	}
	if l.Token <= w.token {
		w.breaks("the token %d of %s follows the token %d", l.Token, b.machine.Owner, w.token)
	}
	w.Won++
	w.token, w.holder = l.Token, &holding{lease: l}
	return w.holder
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
