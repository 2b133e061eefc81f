package waiting

import (
	"maps"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// past is an inbox's knowledge about bids that are over.
type past struct {
	// The time at which each owner got the lock, kept for as long as a claim lasts. One release causes hand-offs of all
	// nodes. A majority of them is enough to win, and the others come later.
	since map[string]clock.Instant
	swept clock.Instant
	claim time.Duration // duration of a claim

	waits map[int64]*between // by ticket: the waits that continue after the end of a bid
}

// between is a wait between two bids.
type between struct {
	kept  []kept        // hand-offs to its earlier bids that came meanwhile
	hurry chan struct{} // receives a value when kept grows
}

// kept is a hand-off that has no answer yet.
type kept struct {
	node int
	of   nodescript.Handoff
}

// won notes that owner got the lock.
func (p *past) won(owner string, now clock.Instant) {
	if now.Sub(p.swept) > p.claim {
		maps.DeleteFunc(p.since, func(_ string, since clock.Instant) bool { return now.Sub(since) > p.claim })
		p.swept = now
	}
	p.since[owner] = now
}

// justWon reports whether owner got the lock less than a claim's duration ago.
func (p *past) justWon(owner string, now clock.Instant) bool {
	since, ok := p.since[owner]
	return ok && now.Sub(since) <= p.claim
}

// decline rejects a hand-off to an owner whose bid is over, if no local waiter can use the claim. A node that came back
// with an older memory may have many bids in its queue that are over. Each of them would cost the other waiters the
// duration of a claim.
func (b *Inbox) decline(node int, h nodescript.Handoff) {
	if next, useless := b.useless(node, h); useless {
		b.answer(next, []kept{{node, h}})
	}
}

// answer declines hand-offs. Before that next asks a question that takes the waiter's place in the queues. If next is
// over, answer keeps the hand-offs for the next bid of the wait. If the wait is over too, it declines them.
func (b *Inbox) answer(next *bid, all []kept) {
	if len(all) == 0 {
		return
	}
	b.fan.Together(func() {
		placed := next == nil || next.joinFirst() || next.got()
		for _, k := range all {
			if placed || !b.keep(k) {
				b.fan.SendTo(k.node, &fanout.Message{Call: nodescript.DeclineCall(k.of.Lock, k.of.Owner), SendBy: b.fan.Now().Add(b.past.claim)})
			}
		}
	})
}

// useless reports whether no local waiter can use this claim. It returns false in these cases:
//
//   - The owner is not of this client.
//   - The owner has just won the lock. The release of its lease also ends the claim, or a renewal brings the lease to
//     that node.
//   - The owner's wait is between two bids. The claim then keeps its place until the next bid. useless hurries that
//     bid, because no other client gets the name meanwhile.
//
// next is the current bid of the owner's wait, if the wait has one. Its place has the same ticket. So it must be in the
// queue before the node hands the name on.
func (b *Inbox) useless(node int, h nodescript.Handoff) (next *bid, is bool) {
	ticket, ok := nodescript.Ticket(h.Owner)
	if !ok || nodescript.ClientOf(h.Owner) != b.client {
		return nil, false // anybody may publish, and a decline deletes a key whose value is the owner
	}
	now := b.fan.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.past.justWon(h.Owner, now) {
		return nil, false
	}
	wait := b.past.waits[ticket]
	if wait == nil {
		return nil, true
	}
	for _, t := range b.bids {
		if t.ticket == ticket {
			return t, true
		}
	}
	wait.keep(kept{node, h})
	return nil, false
}

// keep keeps a hand-off for the next bid of its wait. It reports false if the wait is over.
func (b *Inbox) keep(k kept) bool {
	ticket, _ := nodescript.Ticket(k.of.Owner)
	b.mu.Lock()
	defer b.mu.Unlock()
	wait := b.past.waits[ticket]
	if wait != nil {
		wait.keep(k)
	}
	return wait != nil
}

func (w *between) keep(k kept) {
	w.kept = append(w.kept, k)
	select {
	case w.hurry <- struct{}{}:
	default:
	}
}

// goesOn notes that the wait with this ticket has ended a bid and will make another one. The note lasts until ends. The
// channel receives a value if the wait must make the next bid at once.
func (b *Inbox) goesOn(ticket int64) (hurry <-chan struct{}) {
	if ticket == 0 {
		return nil // the wait made no bid, so no hand-off can come for it
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	wait := b.past.waits[ticket]
	if wait == nil {
		wait = &between{hurry: make(chan struct{}, 1)}
		b.past.waits[ticket] = wait
	}
	return wait.hurry
}

func (b *Inbox) ends(ticket int64) {
	b.mu.Lock()
	all := b.past.keptOf(ticket)
	delete(b.past.waits, ticket)
	b.mu.Unlock()
	b.answer(nil, all)
}

// keptOf returns the kept hand-offs of a wait and clears them.
func (p *past) keptOf(ticket int64) (all []kept) {
	if wait := p.waits[ticket]; wait != nil {
		all, wait.kept = wait.kept, nil
	}
	return all
}
