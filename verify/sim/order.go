package sim

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// inTurn checks that no later client was served first. It applies to worlds without faults in which every client is
// fair. The caller holds w.mu.
func (w *world) inTurn(n *name, x *wait, owner string, now time.Duration) {
	ticket, ok := nodescript.Ticket(owner)
	// The nodes keep no order behind foreign clients, or if some clients are not fair.
	mixed := slices.ContainsFunc(w.plan.Clients, func(c ClientPlan) bool { return !c.Fair })
	if w.plan.foreign() || mixed || !x.op.Wait || !ok || len(w.plan.Faults) > 0 {
		return
	}
	if x.op.Also != nil || w.plan.Sets {
		return // a set waits for one name after the other
	}
	// This is the time from the call until the waiter is in every queue. A client that has never waited asks first and
	// subscribes then. If another goroutine of the client may pass the lock on, the waiter first waits for that
	// pass.
	stands := 12*w.plan.Slow + 20*time.Millisecond
	// A ticket is accurate to half a round trip. Both tickets of a comparison have this error.
	exact := 3 * w.plan.Slow
	if x.since < w.opens() || !x.alone {
		return // no queue exists before the nodes vote; the client's other waiters join a queue later
	}
	if x.op.OnWait == SlowOnWait {
		return // the waiter's turn may have passed while its own OnWait slept
	}
	if x.h.off > 0 && x.h.off > x.since-time.Second {
		return // a client refuses a node that called its clock wrong for a second, so the waiter is in no queue there
	}
	for i := len(n.turns) - 1; i >= 0; i-- {
		o := n.turns[i]
		if o.at <= x.since+stands {
			break
		}
		if n.k > 0 && (now-o.at < stands || w.k(o.x.h, o.x.op) > w.k(x.h, x.op)) {
			continue // two slots were given at the same time, or o's slot is none that x uses
		}
		if o.x.op.Shared && x.op.Shared {
			continue // a batch of readers comes in at once
		}
		w.result.Tally.Orders++
		if o.ticket > ticket+exact.Microseconds() {
			w.violated(servedLate, x.name, "client%d/%d, who came %s later, was served name%d at %.6f, before client%d/%d",
				o.x.h.slot, o.x.actor, time.Duration(o.ticket-ticket)*time.Microsecond, x.name, o.at.Seconds(), x.h.slot, x.actor)
		}
	}
	n.turns = append(n.turns, turn{x, ticket, now})
}

// opens returns the time when all nodes vote if there are no faults.
func (w *world) opens() time.Duration { return w.configs()[0].Quarantine() + 2*time.Second }
