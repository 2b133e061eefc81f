package bids

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// holding is a lease, for as long as its holder relies on it.
type holding struct {
	lease bid.Lease
	ended bool
	over  clock.Instant // the lease of a holder that crashed has ended on the nodes
}

// breaks notes the first broken promise.
func (w *World) breaks(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf("%s: ", time.Duration(w.now)) + fmt.Sprintf(format, args...)
	}
}

// holds notes a lease, and checks it. While a writer relies on the lock, nobody else does. A writer's token is greater
// than all earlier tokens. A reader's token is greater than those of all earlier writers. For each slot of a semaphore
// the rules of writers apply.
func (w *World) holds(b *bidding, l bid.Lease) *holding {
	reader, beside := nodescript.IsReader(l.Owner), false
	w.holders[l.Slot] = slices.DeleteFunc(w.holders[l.Slot], func(h *holding) bool { return w.now >= h.over })
	for _, h := range w.holders[l.Slot] {
		if h.ended || w.now >= h.lease.Deadline {
			continue
		}
		if beside = true; !reader || !nodescript.IsReader(h.lease.Owner) {
			w.breaks("two holders of slot %d: %s won while %s relies on the lock for another %s", l.Slot, l.Owner, h.lease.Owner, h.lease.Deadline.Sub(w.now))
		}
	}
	least := w.tokens[l.Slot]
	if reader {
		least = w.written
	}
	if l.Token <= least {
		w.breaks("the token %d of %s follows the token %d", l.Token, b.machine.Owner, least)
	}
	if most := max(int(b.machine.Slots), 1); l.Slot >= most {
		w.breaks("slot %d of %d", l.Slot, most)
	}
	if w.Won++; beside {
		w.Shared++
	}
	if w.tokens[l.Slot] = max(w.tokens[l.Slot], l.Token); !reader {
		w.written = l.Token
	}
	h := &holding{lease: l, over: l.Sent.Add(w.ttl + 2*window)}
	w.holders[l.Slot] = append(w.holders[l.Slot], h)
	return h
}

// apart limits the check of overtaking. The overtaken waiter must have come earlier by more than apart, and must have
// been the first of its line for apart. Clocks and messages differ by less.
const apart = window

// overtakes checks that a waiter that gets a slot overtakes nobody who came earlier, in a world without faults.
func (w *World) overtakes(by *waiter) {
	if !w.quiet {
		return
	}
	for _, c := range w.clients {
		if len(c.line) == 0 || c == by.c || c.slots() != by.c.slots() {
			continue
		}
		wt := c.line[0]
		if wt.asks == 0 || w.now.Sub(wt.asks) < apart || wt.ticket > by.ticket-apart.Microseconds() {
			continue
		}
		w.breaks("a waiter of %s overtook one of %s that came %dµs before", by.c.id, c.id, by.ticket-wt.ticket)
	}
}

// idles is the longest time for which a slot may be free while a waiter can use it. A waiter asks once a second. If a
// waiter does not hear of its claim, the claim ends after a second.
const idles = 3 * time.Second

// watch checks, once the faults have ended, that no slot stays unused while somebody waits.
func (w *World) watch(since time.Duration) {
	used := 0
	for _, all := range w.holders {
		if slices.ContainsFunc(all, func(h *holding) bool { return !h.ended && w.now < h.over }) {
			used++
		}
	}
	waits := false
	for _, c := range w.clients {
		waits = waits || len(c.line) > 0 && used < max(c.slots(), 1)
	}
	switch {
	case !waits:
		since = time.Duration(w.now)
	case time.Duration(w.now)-since > idles:
		w.breaks("%d slots are in use, and somebody waits for %s", used, time.Duration(w.now)-since)
	}
	w.looksBehind(used > 0)
	w.after(100*time.Millisecond, func() { w.watch(since) })
}

// looksBehind checks the nodes when nobody has used the lock for some time. A lease that was left behind may end before
// the last check of the world. If questions may arrive twice, looksBehind checks nothing: a node that refused the first
// copy gets no release, and may grant the second one.
func (w *World) looksBehind(used bool) {
	for _, c := range w.clients {
		used = used || len(c.line) > 0
	}
	if used {
		w.unused = w.now
	}
	if w.unused != 0 && w.now.Sub(w.unused) > w.cleanWithin() {
		w.unused = 0
		if !w.repeats {
			w.judgeLeftovers(true)
		}
	}
}

func (w *World) lets(h *holding) { h.ended, w.unused = true, w.now }

// servedWithin is the time after the faults within which every waiter is served. The last holder may have crashed, so
// its lease and a few claims must end first.
func (w *World) servedWithin() time.Duration { return w.ttl + window + 10*time.Second }

// judgeServed checks that every waiter gets the lock when messages are no longer lost.
func (w *World) judgeServed() {
	for _, c := range w.clients {
		if n := len(c.line); n > 0 {
			w.breaks("nobody wins: %d waiters of %s are not served %s after the faults", n, c.id, w.servedWithin())
		}
	}
}

// cleanWithin is the time after the last wait within which the nodes have no trace of it. A client repeats a failed
// request once a second.
func (w *World) cleanWithin() time.Duration {
	if w.crashes {
		return w.ttl + 2*window
	}
	return 2 * time.Second
}

// judgeLeftovers checks that nothing is left on the nodes: no lease, no claim, and if queues is true no place in a
// queue. A question that arrives twice may join a queue after the release of its bid. The node keeps this place until
// the queue expires. The client declines a hand-off to that bid.
func (w *World) judgeLeftovers(queues bool) {
	for i, s := range w.servers {
		if owner, queue := s.keeps(); owner != "" || queues && len(queue) > 0 {
			w.breaks("left behind on node %d: owner %q, queue %s", i, owner, strings.Join(queue, " "))
		}
	}
}
