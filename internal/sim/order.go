package sim

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// served checks that nobody had to wait for a name that was free, once all is well. w.mu is held.
func (w *world) served(n *name, x *wait, now time.Duration) {
	spent := n.spent
	n.spent = 0
	since := time.Duration(-1)
	for _, o := range n.waits {
		if since < 0 || o.since < since {
			since = o.since
		}
	}
	if since < 0 || now < w.calm {
		return
	}
	gap := now - max(since, n.free, w.calm)
	w.result.Tally.Waits++
	w.result.Tally.LongestM = max(w.result.Tally.LongestM, gap.Milliseconds())
	if most := wakesIn + time.Duration(spent)*nodescript.Claim; gap > most {
		w.violated(x.name, "name%d was free for %s while somebody waited, before client%d/%d got it; at most %s would do",
			x.name, gap, x.h.slot, x.actor, most)
	}
}

// handed notes a hand-off to an owner. One for a bid that is over costs those who wait the
// claim: nodes that lost a part of their memory, or were away when the bid ended, may have it
// in a queue still.
func (w *world) handed(h *host, owner string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result.Tally.Outcomes[HandedOff]++
	b := h.owners[owner]
	if b == nil || !b.ended && !h.dead {
		return
	}
	w.result.Tally.Spent++
	for _, n := range w.names {
		if n.record == b.name {
			n.spent++
		}
	}
}

// inTurn checks that nobody who came later was served first, in worlds in which nothing goes
// wrong and every client is fair. w.mu is held.
func (w *world) inTurn(n *name, x *wait, owner string, now time.Duration) {
	ticket, ok := nodescript.Ticket(owner)
	foreign := slices.ContainsFunc(w.plan.Actors, func(a Actor) bool { return a.Foreign }) // after them there is no order
	if foreign || !x.op.Wait || !ok || len(w.plan.Faults) > 0 || !w.plan.Clients[x.h.slot].Fair {
		return
	}
	// From its call until it stands in every queue: a client that never waited asks first and
	// then subscribes. Tickets are no more exact than half a round trip.
	stands := 12*w.plan.Slow + 60*time.Millisecond
	if x.since < w.opens() || !x.alone {
		return // while nodes do not vote yet there is no queue; the others in line join it later
	}
	for i := len(n.turns) - 1; i >= 0; i-- {
		o := n.turns[i]
		if o.at <= x.since+stands {
			break
		}
		w.result.Tally.Orders++
		if o.ticket > ticket+stands.Microseconds() {
			w.violated(x.name, "client%d/%d, who came %s later, was served name%d at %.6f, before client%d/%d",
				o.x.h.slot, o.x.actor, time.Duration(o.ticket-ticket)*time.Microsecond, x.name, o.at.Seconds(), x.h.slot, x.actor)
		}
	}
	n.turns = append(n.turns, turn{x, ticket, now})
}

// opens is when all nodes vote, if nothing goes wrong.
func (w *world) opens() time.Duration { return w.configs()[0].Quarantine() + 2*time.Second }
