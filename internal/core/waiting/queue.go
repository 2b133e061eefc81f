package waiting

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// These are the pauses of a waiter. Package bid explains them.
const (
	askEvery = bid.AskEvery
	gather   = bid.Gather
)

// waiter returns a new bid for a waiter. The first bid of a wait also draws the ticket. All later bids of the wait use
// the same ticket. So if an outage ends a bid, the waiter keeps its place in the queues. waiter returns an error if no
// stamp can be drawn. drawn is the instant at which this call drew the ticket, or 0.
func (l *Locker) waiter(lock nodescript.Kind, ttl time.Duration, ticket *int64) (b *bidder, drawn clock.Instant, err error) {
	fan, inbox := l.route(lock)
	if *ticket == 0 {
		if *ticket, drawn, err = fan.Stamp(); err != nil {
			return nil, 0, err
		}
	}
	b = newBidder(fan, lock, l.NewOwner(inbox.client, *ticket), ttl, *ticket)
	b.inbox = inbox
	return b, drawn, nil
}

// moved is the refusal of a bid whose lock belongs to another node set now. The nodes there may queue the bid, but its
// inbox does not hear them, so they would pass it over. The waiter makes another bid with the same ticket.
var moved = &Refusal{}

// queue waits in the queue of every node. It returns when the bid is won, when ctx ends, or when too few nodes answer.
// Only the first waiter of a name in this process calls queue. drawn is as in ask.
func (l *Locker) queue(ctx context.Context, b *bidder, drawn clock.Instant, after func(*Refusal)) (Grant, *Refusal) {
	b.inbox.open(ctx)
	b.inbox.expect(b)
	first, every := l.askEvery(), l.askEvery()
	if l.lines.isNear(b.lock.Line()) {
		first = gather // a pass will probably bring the lock soon and make the question unnecessary
	} else {
		b.fan.Carry(ctx, b, func() { b.join(drawn) })
	}
	timer := time.NewTimer(l.apart(first))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			l.Fan.Woken()
			if _, inbox := l.route(b.lock); inbox != b.inbox {
				return b.left()
			}
			b.askAgain(every)
			timer.Reset(l.apart(every))
			continue
		case <-b.wake:
			l.Fan.Woken()
		case <-ctx.Done():
			return b.outcome(true) // it may have been won at the same moment
		case <-l.Stop:
			return b.outcome(true)
		}
		g, won, r, pause := b.next(l.RetryDelay, every)
		if won {
			return g, nil
		}
		if r != nil {
			if r.Kind == Unavailable {
				return Grant{}, r
			}
			after(r)
		}
		timer.Reset(l.apart(pause))
	}
}

// left returns the result of a bid whose lock belongs to another node set: its lease, or moved.
func (b *bidder) left() (Grant, *Refusal) {
	if g, r := b.outcome(true); r == nil {
		return g, nil
	}
	return Grant{}, moved
}

// apart adds a few random microseconds to d. Two waiters may hear the same answer at the same instant and pause for
// the same time. Then this random part decides which of them asks first. Without it, the runtime's timers would
// decide, and a simulation with a fixed seed could not repeat the order.
func (l *Locker) apart(d time.Duration) time.Duration { return d + l.Fan.Draw(16*time.Microsecond) }
