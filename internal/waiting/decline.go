package waiting

import (
	"maps"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// past is what an inbox knows of bids that are over.
type past struct {
	// When owners got the lock, for as long as a claim lasts. The hand-offs of one release come from all
	// nodes, a majority is enough, and the news of the others come later.
	since map[string]clock.Instant
	swept clock.Instant
	claim time.Duration // how long one lasts

	waits map[int64]*between // by ticket, those that go on after a bid
}

// between is a wait between two bids.
type between struct {
	kept  []kept        // what was handed to its earlier bids meanwhile
	hurry chan struct{} // has a word when there is some
}

// kept is a hand-off that is not answered yet.
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

// justWon reports whether owner got the lock within a claim's time.
func (p *past) justWon(owner string, now clock.Instant) bool {
	since, ok := p.since[owner]
	return ok && now.Sub(since) <= p.claim
}

// decline answers a hand-off to an owner that nobody bids under any more. A node that came back with the memory of a
// moment ago has a queue of bids that are over, and each would cost those who wait a claim.
func (b *Inbox) decline(node int, h nodescript.Handoff) {
	if next, useless := b.useless(node, h); useless {
		b.answer(next, []kept{{node, h}})
	}
}

// answer declines hand-offs, behind a question of next that takes the place in the queues. Where next is over by now
// the bid after it will, if there is one.
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

// useless reports whether a claim is of use to nobody in here. To who has just won it needs no answer: the
// release of its lease ends the claim, too, or a renewal brings the lease to that node. Between two bids of a
// wait it keeps the place, until the next bid: that is hurried, because nobody else gets the name meanwhile. next is
// what its wait bids under by now, if that goes on: its place is by the same ticket, so it is to be in the queue
// before the name is handed on.
func (b *Inbox) useless(node int, h nodescript.Handoff) (next *bid, is bool) {
	ticket, ok := nodescript.Ticket(h.Owner)
	if !ok || nodescript.ClientOf(h.Owner) != b.client {
		return nil, false // anybody may publish, and a decline deletes a key that has owner for its value
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

// keep keeps a hand-off for the next bid of its wait, and reports whether that goes on.
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

// goesOn notes that the wait of ticket ended a bid and will make another, until ends. The channel has a word
// when it is to make it at once.
func (b *Inbox) goesOn(ticket int64) (hurry <-chan struct{}) {
	if ticket == 0 {
		return nil // no bid was made, so none is handed anything
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

// keptOf takes what was kept for a wait.
func (p *past) keptOf(ticket int64) (all []kept) {
	if wait := p.waits[ticket]; wait != nil {
		all, wait.kept = wait.kept, nil
	}
	return all
}
