package waiting

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

const (
	// askEvery is the longest pause between two questions to all nodes. Such a question finds dead holders, lost
	// hand-offs, and locks that foreign clients gave back. The pause has no jitter: with a longer pause a waiter would
	// sleep on, with a shorter one it would ask more than once a second. Only the second pause is random, because many
	// waiters that came at the same moment would otherwise stay in step. The first is not random, because most waits
	// end before it does.
	askEvery = time.Second
	// gather is how long the first hand-off waits for the hand-offs of the other nodes, which the same release sent.
	// After that the bid asks all nodes.
	gather = 20 * time.Millisecond
)

// waiter returns a new bid of a waiter. It returns an error if no stamp can be drawn. It draws the ticket with the
// first bid, and the wait keeps it until it has the lock. So an outage of the nodes costs a bid, but not the place in
// the queue.
func (l *Locker) waiter(lock nodescript.Lock, ttl time.Duration, ticket *int64) (*bid, error) {
	if *ticket == 0 {
		stamp, _, err := l.Fan.Stamp()
		if err != nil {
			return nil, err
		}
		*ticket = stamp
	}
	b := newBid(l.Fan, lock, l.NewOwner(*ticket), ttl)
	b.ticket, b.hears = *ticket, l.Inbox.hears
	return b, nil
}

// queue waits in the queue of every node. It returns when the name is handed over, ctx ends, or too few nodes answer.
// Only the first waiter of a name in this process calls it.
func (l *Locker) queue(ctx context.Context, b *bid, after func(*Refusal)) (Grant, *Refusal) {
	l.Inbox.open(ctx)
	l.Inbox.expect(b)
	first, every := l.askEvery(), l.askEvery()
	if l.lines.isNear(b.lock.Name) {
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

// apart adds a few microseconds at random. If two waiters hear the same answer at the same instant, this number decides
// which of them asks first, and not the runtime's timers. A simulation that supplies its own random numbers can then
// repeat the order.
func (l *Locker) apart(d time.Duration) time.Duration { return d + l.Fan.Draw(16*time.Microsecond) }

// join asks all nodes in a way that joins their queues. It does nothing if a round is open: either that round joins the
// queues, or a pass to this owner began it.
func (b *bid) join() {
	if !b.asking() {
		b.askAll()
	}
}

// joinFirst joins the nodes' queues with a question that a release follows in the same piece: see
// [fanout.Fanout.Together]. A release alone would hand the name to a later waiter. A question that is already under way
// is not enough: the release may overtake it on a second connection. Later hand-offs of other nodes do not withdraw
// this question, although they make it unnecessary. joinFirst reports false if the bid is over or won.
func (b *bid) joinFirst() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == over || b.state == won {
		return false
	}
	if b.state != open || b.from == nil {
		b.askNodes()
		b.message, b.joins = nil, nil
	}
	return true
}

// next returns the grant if the bid is won. Otherwise it returns the pause before the next question to all nodes: a
// short one while hand-offs come in, else the time to the end of the holder's lease, and at most every. The refusal is
// that of a round with all nodes, or nil. next looks at the bid once for all of this: see [bid.outcome].
func (b *bid) next(retry, every time.Duration) (g Grant, won bool, r *Refusal, pause time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g, won = b.take(); won {
		return g, true, nil, 0
	}
	state, whole, stamped, soon := b.state, b.whole, b.err == nil, false
	if state == failed {
		b.state = idle
		soon = whole && stamped && b.split()
	} else if state == idle {
		soon = b.part != 0 // the partial grant came after the round failed
	}
	switch {
	case state == open && !whole:
		return g, false, nil, gather
	case state == idle && soon:
		return g, false, nil, jitter(b.fan, gather)
	case state == open, state == idle:
		return g, false, nil, every
	case state == failed && !whole && stamped:
		return g, false, nil, jitter(b.fan, splitDelay)
	}
	r = b.refused(false)
	_, foreign, left := r.Holder()
	pause = every
	if b.pauses++; b.pauses == 2 {
		pause = b.fan.Draw(every)
	}
	if foreign || r.Kind == Contended {
		pause = min(jitter(b.fan, retry), every) // nobody hands a foreign lock over
	}
	switch {
	case soon:
		pause = jitter(b.fan, gather)
	case b.part != 0:
		pause = min(b.partPause(), pause)
	}
	// The comparison comes before the addition: a foreign key may never expire, and then the sum would overflow.
	if left > 0 && left < pause {
		pause = left + jitter(b.fan, gather)/2 // spreads the waiters over several milliseconds
	}
	return g, false, r, pause
}
