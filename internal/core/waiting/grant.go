package waiting

import (
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Grant is a lease that was won, together with its slot or the share of its readers.
type Grant struct {
	Won
	Slot  nodescript.Kind // the slot of a semaphore; nil: the lease is for a lock
	Share Share           // the share of readers; nil: only the caller uses the lease
	Late  bool            // the caller joined an open Share. It must ask Share for its part, because nobody reserved that part.
}

// Won is a lease that was won.
type Won struct {
	Owner    string
	Token    int64         // the fencing token, in µs of stamp time
	Sent     clock.Instant // the instant at which Token was drawn; the validity starts here
	Deadline clock.Instant

	Fan    *fanout.Fanout // the node set that granted it; a lease follows its name to others
	By     bid.Nodes      // the nodes that granted the lease before it was won
	Others bool           // another waiter was in the queue of a node
	waited bool           // a hand-off brought the name
	passes int            // the number of passes in a row since the nodes granted the name to this process
	late   *late          // nil if the bid has all answers
}

// grant returns the grant of the lease that the bid has won. The caller holds b.mu.
func (b *bidder) grant(l bid.Lease) Grant {
	if l.Missing {
		b.late = &late{}
		b.late.bidder.Store(b)
	}
	granted := func(node int) (clock.Instant, bool) { return l.Deadline, l.By.Has(node) }
	var slot nodescript.Kind
	if s, ok := b.lock.(*nodescript.Slot); ok {
		slot = s.At(l.Slot, -1)
	}
	return Grant{Slot: slot, Won: Won{
		Owner: l.Owner, Token: l.Token, Sent: l.Sent, Deadline: b.fan.Proven(l.Sent, granted), Others: l.Others,
		Fan: b.fan, By: l.By, passes: l.Passes, waited: l.Waited, late: b.late,
	}}
}

// refusal returns the refusal for the other waiters of this process. It says that this lease is held on the nodes that
// granted it.
func (g *Grant) refusal(n int, ttl time.Duration, now clock.Instant) *Refusal {
	answers := make([]nodescript.Answer, n)
	for i := range answers {
		if g.By.Has(i) {
			answers[i] = nodescript.Answer{Verdict: nodescript.Held, Owner: g.Owner, Left: g.Sent.Add(ttl).Sub(now), Rank: -1}
		}
	}
	return bid.Refuse(answers, nil, true)
}

// late links a lease to its bid, if the bid was won before every node had answered.
type late struct{ bidder atomic.Pointer[bidder] } // nil when every node has answered

// End notes that the lease has ended. The caller calls it before it sends the release. The bid then knows that a
// question still on its way may reach a node after the release: see [bid.Machine.LeaseEnded].
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
