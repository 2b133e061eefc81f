package waiting

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/kind"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Several is the outcome of one attempt to get several names at once.
type Several struct {
	Grants  []Grant  // by name; a Grant without an owner is none. The caller owns the grants, even after a refusal.
	At      int      // the index of the first name that was refused
	Refusal *Refusal // the refusal of that name; nil if all names were granted
}

// AskAll makes one attempt for all names. All questions for a node travel in one piece. AskAll gives back in the
// background the grants that it does not return. It does not repeat a split vote, because the caller may wait for the
// name.
func (l *Locker) AskAll(ctx context.Context, locks []kind.Kind, ttl time.Duration) Several {
	bids, at, r := l.attemptAll(ctx, locks, ttl, len(locks))
	return l.outcomes(len(locks), bids, at, r)
}

// TryAll does the same as AskAll, but makes a few attempts if no owner has the names and other clients also try.
//
// TryAll repeats the whole attempt, and not single names. A node answers the names of one script at once. So if several
// callers want the same names, one of them gets a majority for all names of the first script. Only that caller asks for
// the rest.
func (l *Locker) TryAll(ctx context.Context, locks []kind.Kind, ttl time.Duration) Several {
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

// attemptAll asks for the first few names at once, and for the rest when it has these. It returns the bids that it made,
// the index of the first bid that is not won, and the reason. If it got no stamp for the questions, there are no bids.
func (l *Locker) attemptAll(ctx context.Context, locks []kind.Kind, ttl time.Duration, few int) (bids []*bidder, at int, r *Refusal) {
	if answers := l.Fan.Settle(ctx); answers != nil {
		return nil, 0, bid.Refuse(answers, nil, ctx.Err() != nil)
	}
	ticket := l.Fan.StampAt(l.Fan.Now())
	for r == nil && len(bids) < len(locks) {
		next := locks[len(bids):]
		if len(bids) == 0 {
			next = next[:min(few, len(next))]
		}
		for _, lock := range next {
			bids = append(bids, newBidder(l.Fan, lock, l.NewOwner(ticket), ttl, 0))
		}
		l.Fan.Together(func() { beginAll(bids[at:]) })
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
	// The other bids were sent in the same calls, so their answers come soon. This short wait decides them. A bid that
	// has won becomes a lease: the caller can wait for its release. The caller cannot wait for the end of a bid.
	soon, cancel := context.WithTimeout(ctx, l.Fan.Set().Window)
	defer cancel()
	for _, b := range bids[at+1:] {
		l.decide(soon, b)
	}
	if r.Doubt {
		bids[at].end(false) // see attempt
		r = l.settled(ctx, bids[at])
	}
	return bids, at, r
}

// outcomes takes the leases of the bids that are won, and ends the other bids.
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
		b.begin()
	}
}

// endAll gives back several bids. All requests to a node travel in one piece.
func (l *Locker) endAll(bids []*bidder) {
	l.Fan.Together(func() {
		for _, b := range bids {
			b.giveUp()
		}
	})
}

// looks returns nil if the bid is won. Otherwise it returns the reason why the bid is not won, as far as that is known.
// It looks at the bid only once.
func (b *bidder) looks() *Refusal {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.machine.Won() {
		return nil
	}
	return b.machine.Refused(true)
}
