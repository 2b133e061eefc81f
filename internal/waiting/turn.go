package waiting

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
)

const (
	// askEvery is the longest pause between two questions to all nodes. It finds dead
	// holders, lost hand-offs, and locks that foreign clients gave back. Not jittered: a
	// longer one would let a waiter sleep on, a shorter one ask more than once a second. Only
	// the second is: many that came at the same moment would stay in step. Not the first,
	// because most waits are over by then.
	askEvery = time.Second
	// gather is for how long the first hand-off waits for those of the other nodes, which
	// the same release sent, before all are asked.
	gather = 20 * time.Millisecond
)

// waiter makes the bid of a waiter, which is nil while no stamp can be drawn. The ticket
// is drawn with the first bid and kept until it has the lock: an outage of the nodes costs
// a bid, but not the place in line.
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

// queue waits in the queue of every node until the name is handed over, or ctx ends, or
// too few nodes answer. It is called for the first waiter of a name in this process.
func (l *Locker) queue(ctx context.Context, b *bid, after func(*Refusal)) (Grant, *Refusal) {
	l.Inbox.open(ctx)
	l.Inbox.expect(b)
	first, every := l.askEvery(), l.askEvery()
	if l.lines.isNear(b.lock.Name) {
		first = gather // a pass is likely to save the question
	} else {
		b.join()
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

// apart adds a few microseconds at random: of two waiters that heard the same answer at the same
// instant, chance and not the runtime's timers says who asks first, so that a simulation with
// chance of its own can repeat it.
func (l *Locker) apart(d time.Duration) time.Duration { return d + l.Fan.Draw(16*time.Microsecond) }

// join asks all nodes in a way that joins their queues: unless a round is under way that
// joins them, too, or one that what was passed to this owner began.
func (b *bid) join() {
	if !b.asking() {
		b.askAll()
	}
}

// joinFirst is join for a release that follows in the same piece; see [fanout.Fanout.Together].
// Where the release went alone the name would be handed to somebody who came later. So a question
// that is under way does not do, which the release may overtake on a second connection; and
// this one is not dropped where a hand-off by another node makes it needless. It reports whether b
// is not over.
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

// next takes what was won. Of a round that was not it says when to ask all nodes again: soon, while
// hand-offs are coming in; else when the holder's lease is over, but at least that often. The refusal is that of a
// round of all nodes. All of it is one look at the bid, see [bid.outcome].
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
		soon = b.part != 0 // it was not there when the round failed
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
	// Compared first: a foreign key may be there forever, to which nothing adds.
	if left > 0 && left < pause {
		pause = left + jitter(b.fan, gather)/2 // not all waiters in the same millisecond
	}
	return g, false, r, pause
}
