package waiting

import (
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/kind"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Grant is a lease that was won, together with its slot or the share of its readers.
type Grant struct {
	Won
	Slot  kind.Kind // of a semaphore; nil: it is the lease of a lock
	Share Share     // of readers; nil: the lease has one user
	Late  bool      // the caller found Share open, and nobody has reserved a part of it for the caller
}

// Won is a lease that was won.
type Won struct {
	Owner    string
	Token    int64         // the fencing token, in µs of stamp time
	Sent     clock.Instant // the instant at which Token was drawn; the validity counts from here
	Deadline clock.Instant

	Others bool      // a node had another waiter in its queue
	waited bool      // the name came by a hand-off
	by     bid.Nodes // nodes that granted it before it was won
	passes int       // passes in a row since the nodes handed the name to this process
	late   *late     // nil if the bid has all answers
}

// grant returns the grant of the lease that the bid has won. The caller holds b.mu.
func (b *bidder) grant(l bid.Lease) Grant {
	if l.Missing {
		b.late = &late{}
		b.late.bidder.Store(b)
	}
	var slot kind.Kind
	if s, ok := b.lock.(*kind.Slot); ok {
		slot = s.At(l.Slot, -1)
	}
	return Grant{Slot: slot, Won: Won{
		Owner: l.Owner, Token: l.Token, Sent: l.Sent, Deadline: l.Deadline, Others: l.Others,
		by: l.By, passes: l.Passes, waited: l.Waited, late: b.late,
	}}
}

// refusal returns the refusal for the other waiters of this process. It names this lease as held on the nodes that
// granted it.
func (g *Grant) refusal(n int, ttl time.Duration, now clock.Instant) *Refusal {
	answers := make([]nodescript.Answer, n)
	for i := range answers {
		if g.by.Has(i) {
			answers[i] = nodescript.Answer{Verdict: nodescript.Held, Owner: g.Owner, Left: g.Sent.Add(ttl).Sub(now), Rank: -1}
		}
	}
	return bid.Refuse(answers, nil, true)
}

// late refers to a bid that was won before every node had answered.
type late struct{ bidder atomic.Pointer[bidder] } // nil after every node has answered

// End marks the lease as ended. The caller calls it before it releases the lease: see [bid.Machine.LeaseEnded].
func (g *Won) End() {
	if g.late == nil {
		return
	}
	if b := g.late.bidder.Load(); b != nil {
		b.mu.Lock()
		b.machine.LeaseEnded()
		b.mu.Unlock()
	}
}
