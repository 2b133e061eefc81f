package waiting

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Several is the outcome of one attempt to get several names at once.
type Several struct {
	Grants  []Grant  // one per name; a Grant with an empty Owner is no grant. The caller owns the grants, even after a refusal.
	At      int      // the index of the first name that was refused
	Refusal *Refusal // the refusal of that name; nil if all names were granted
}

// AskAll makes one attempt for all names, which must belong to one node set. It sends the questions for one node together. If a name is refused, AskAll
// still returns the grants of the other names that it won. It ends all other bids in the background. AskAll does not
// try again after a split vote, because its caller may wait for the refused name.
func (l *Locker) AskAll(ctx context.Context, locks []nodescript.Kind, ttl time.Duration) Several {
	bids, at, r := l.attemptAll(ctx, locks, ttl, len(locks))
	return l.outcomes(len(locks), bids, at, r)
}

// TryAll does the same as AskAll, but it tries again a few times if the attempts of several clients blocked each other
// and no owner has the name.
//
// Each try asks for all names again. The first script of a try asks a node for the
// first few names together, so the node answers them all at one moment. If several callers want the same names, one of
// them gets a majority for all these names. The other callers stop there. So only one caller asks for the remaining
// names.
func (l *Locker) TryAll(ctx context.Context, locks []nodescript.Kind, ttl time.Duration) Several {
	pause := splitDelay
	for try := 1; ; try++ {
		bids, at, r := l.attemptAll(ctx, locks, ttl, nodescript.MostTogether)
		if r == nil || r.Kind != Contended || try == splitTries || ctx.Err() != nil {
			return l.outcomes(len(locks), bids, at, r)
		}
		l.endAll(bids)
		if !l.sleep(ctx, jitter(l.Fan, pause), nil) {
			return Several{At: at, Refusal: r}
		}
		pause = min(2*pause, l.RetryDelay, splitMost)
	}
}

// attemptAll asks for the first few names together. If it gets them all, it asks for the rest. It returns its bids,
// the index of the first bid that is not won, and the reason for that. If no stamp could be drawn, it returns no bids.
func (l *Locker) attemptAll(ctx context.Context, locks []nodescript.Kind, ttl time.Duration, few int) (bids []*bidder, at int, r *Refusal) {
	fan, inbox := l.route(locks[0])
	if answers := fan.Settle(ctx); answers != nil {
		return nil, 0, bid.Refuse(answers, nil, ctx.Err() != nil)
	}
	ticket := fan.StampAt(fan.Now())
	for r == nil && len(bids) < len(locks) {
		next := locks[len(bids):]
		if len(bids) == 0 {
			next = next[:min(few, len(next))]
		}
		for _, lock := range next {
			bids = append(bids, newBidder(fan, lock, l.NewOwner(inbox.client, ticket), ttl, 0))
		}
		fan.Together(func() { beginAll(bids[at:]) })
		for at < len(bids) {
			l.decide(ctx, bids[at])
			if r = bids[at].looks(); r != nil {
				break
			}
			at++
		}
	}
	if r == nil || ctx.Err() != nil || l.stopped() {
		return bids, at, r
	}
	// The requests of the other bids went out in the same calls, so their answers come soon and this wait is short. It
	// is worth it: a bid that wins becomes a lease, and the caller can wait for the release of a lease. The caller
	// cannot wait for the end of an open bid.
	soon, cancel := context.WithTimeout(ctx, l.Fan.Set().Window)
	defer cancel()
	for _, b := range bids[at+1:] {
		l.decide(soon, b)
	}
	if r.Doubt {
		bids[at].end(false) // so that the bid holds no grants while settled waits: see attempt
		r = l.settled(ctx, bids[at])
	}
	return bids, at, r
}

// outcomes takes the leases of the won bids, and ends the other bids.
func (l *Locker) outcomes(names int, bids []*bidder, at int, r *Refusal) Several {
	s := Several{Grants: make([]Grant, names), At: at, Refusal: r}
	for i, b := range bids {
		if i == at || b.looks() != nil {
			continue
		}
		g, late := b.outcome(true)
		switch {
		case late == nil:
			s.Grants[i] = g
		case i < s.At:
			s.At, s.Refusal = i, late
		}
	}
	l.endAll(bids)
	return s
}

func beginAll(bids []*bidder) {
	for _, b := range bids {
		b.begin(0)
	}
}

// endAll ends several bids and gives their grants back. It sends the requests for one node together.
func (l *Locker) endAll(bids []*bidder) {
	if len(bids) == 0 {
		return
	}
	bids[0].fan.Together(func() {
		for _, b := range bids {
			b.giveUp()
		}
	})
}

// looks returns nil if the bid is won. Otherwise it returns the reason why the bid is not won, with the answers so
// far. It locks the bid once for both results. With two locks the bid could be won between them.
func (b *bidder) looks() *Refusal {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.machine.Won() {
		return nil
	}
	return b.machine.Refused(true)
}
