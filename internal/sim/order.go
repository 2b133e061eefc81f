package sim

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// inTurn checks that nobody who came later was served first, in worlds in which nothing goes
// wrong and every client is fair. w.mu is held.
func (w *world) inTurn(n *name, x *wait, owner string, now time.Duration) {
	ticket, ok := nodescript.Ticket(owner)
	// After foreigners there is no order, nor where some clients are not fair.
	mixed := slices.ContainsFunc(w.plan.Clients, func(c ClientPlan) bool { return !c.Fair })
	if w.plan.foreign() || mixed || !x.op.Wait || !ok || len(w.plan.Faults) > 0 {
		return
	}
	// From its call until it stands in every queue: a client that never waited asks first and
	// then subscribes, and who may be passed the lock waits for that a while.
	stands := 12*w.plan.Slow + 20*time.Millisecond
	// Tickets are no more exact than half a round trip, at both.
	exact := 3 * w.plan.Slow
	if x.since < w.opens() || !x.alone {
		return // while nodes do not vote yet there is no queue; the others in line join it later
	}
	if x.op.OnWait == SlowOnWait {
		return // its turn may have passed while its own OnWait slept
	}
	if x.h.off > 0 && x.h.off > x.since-time.Second {
		return // a node whose clock was off for it believes so for a second, and has it in no queue
	}
	for i := len(n.turns) - 1; i >= 0; i-- {
		o := n.turns[i]
		if o.at <= x.since+stands {
			break
		}
		w.result.Tally.Orders++
		if o.ticket > ticket+exact.Microseconds() {
			w.violated(servedLate, x.name, "client%d/%d, who came %s later, was served name%d at %.6f, before client%d/%d",
				o.x.h.slot, o.x.actor, time.Duration(o.ticket-ticket)*time.Microsecond, x.name, o.at.Seconds(), x.h.slot, x.actor)
		}
	}
	n.turns = append(n.turns, turn{x, ticket, now})
}

// opens is when all nodes vote, if nothing goes wrong.
func (w *world) opens() time.Duration { return w.configs()[0].Quarantine() + 2*time.Second }
