package waiting

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/kind"
)

// These are the pauses of a waiter.
const (
	askEvery = bid.AskEvery
	gather   = bid.Gather
)

// waiter returns a new bid of a waiter. It returns an error if no stamp can be drawn. It draws the ticket with the
// first bid, and the wait keeps the ticket until it has the lock. So an outage of the nodes costs the waiter its bid,
// but not its place in the queue.
func (l *Locker) waiter(lock kind.Kind, ttl time.Duration, ticket *int64) (*bidder, error) {
	if *ticket == 0 {
		stamp, _, err := l.Fan.Stamp()
		if err != nil {
			return nil, err
		}
		*ticket = stamp
	}
	b := newBidder(l.Fan, lock, l.NewOwner(*ticket), ttl, *ticket)
	b.hears = l.Inbox.hears
	return b, nil
}

// queue waits in the queue of every node. It returns when the name is handed over, ctx ends, or too few nodes answer.
// In this process only the first waiter of a name calls it.
func (l *Locker) queue(ctx context.Context, b *bidder, after func(*Refusal)) (Grant, *Refusal) {
	l.Inbox.open(ctx)
	l.Inbox.expect(b)
	first, every := l.askEvery(), l.askEvery()
	if l.lines.isNear(b.lock.Name()) {
		first = gather // a pass will probably make the question unnecessary
	} else {
		l.Fan.Carry(ctx, b, b.join)
	}
	timer := time.NewTimer(l.apart(first))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			b.askAgain(every)
			timer.Reset(l.apart(every))
			continue
		case <-b.wake:
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

// apart adds a few microseconds at random. If two waiters hear the same answer at the same instant, this random number
// decides which of them asks first. Otherwise the runtime's timers would decide it. So a simulation that supplies its
// own random numbers can repeat the order.
func (l *Locker) apart(d time.Duration) time.Duration { return d + l.Fan.Draw(16*time.Microsecond) }
