package waiting

import (
	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// decline handles a hand-off to an owner whose bid has ended. If no waiter of this client can use the claim, decline
// rejects the claim, so that the node hands the name to the next waiter: see [bid.Past.Fate].
func (b *Inbox) decline(node int, h nodescript.Handoff) {
	if next, useless := b.useless(node, h); useless {
		b.answer(next, []bid.Kept{{Node: node, Of: h}})
	}
}

// answer declines hand-offs. Before that, it lets next, the current bid of the same wait, join the nodes' queues.
// Without this step, the wait would have no place in the queue, and the node would hand the name to a later waiter. If
// next has ended, answer keeps the hand-offs for the next bid of the wait. If the wait has ended too, answer declines
// the hand-offs.
func (b *Inbox) answer(next *bidder, all []bid.Kept) {
	if len(all) == 0 {
		return
	}
	b.fan.Together(func() {
		placed := next == nil || next.joinFirst() || next.got()
		for _, k := range all {
			if placed || !b.keep(k) {
				b.fan.SendTo(k.Node, &fanout.Message{Call: nodescript.Decline(k.Of), SendBy: b.fan.Now().Add(b.fan.Set().Claim())})
			}
		}
	})
}

// useless reports whether no waiter of this client can use a hand-off. It returns next, the current bid of the wait
// that the hand-off belongs to, or nil. If that wait has ended one bid and not yet made the next, useless keeps the
// hand-off and makes the wait hurry. The node gives the name to no other client during that time.
func (b *Inbox) useless(node int, h nodescript.Handoff) (next *bidder, is bool) {
	now := b.fan.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.past.Fate(h.Owner, now) {
	case bid.Declined:
		return nil, true
	case bid.GoesOn:
		ticket, _ := nodescript.Ticket(h.Owner)
		for _, t := range b.bids {
			if t.ticket() == ticket {
				return t, true
			}
		}
		b.keepLocked(bid.Kept{Node: node, Of: h})
	}
	return nil, false
}

// keep stores a hand-off for the next bid of its wait. It returns false if the wait has ended.
func (b *Inbox) keep(k bid.Kept) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.keepLocked(k)
}

// keepLocked does the work of keep, and wakes the wait. The caller holds b.mu.
func (b *Inbox) keepLocked(k bid.Kept) bool {
	if !b.past.Keep(k) {
		return false
	}
	ticket, _ := nodescript.Ticket(k.Of.Owner)
	select {
	case b.hurry[ticket] <- struct{}{}:
	default:
	}
	return true
}

// waitContinues notes that the wait with this ticket has ended a bid and will make another one. The note lasts until
// waitEnded is called. The returned channel receives a value when a hand-off came and the wait must make its next bid
// at once.
func (b *Inbox) waitContinues(ticket int64) (hurry <-chan struct{}) {
	if ticket == 0 {
		return nil // the wait has not made any bid, so no hand-off can come for it
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.past.WaitGoesOn(ticket)
	if b.hurry[ticket] == nil {
		b.hurry[ticket] = make(chan struct{}, 1)
	}
	return b.hurry[ticket]
}

func (b *Inbox) waitEnded(ticket int64) {
	b.mu.Lock()
	all := b.past.WaitEnded(ticket)
	delete(b.hurry, ticket)
	b.mu.Unlock()
	b.answer(nil, all)
}
