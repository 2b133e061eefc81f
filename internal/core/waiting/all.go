package waiting

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/kind"
)

// Prefix is the outcome of one attempt to get several names at once.
type Prefix struct {
	Grants  []Grant  // of the first names; they belong to the caller
	At      int      // the index of the first name that was refused
	Refusal *Refusal // of that name; nil if all names were granted
}

// TryAll makes one attempt for all names, or a few if nobody has them and others also try. All questions for a node
// travel in one piece. If a name is refused, TryAll gives back the others in the background. Then only a grant that came
// too late for another leaves Grants, and the caller gives them back.
//
// The whole attempt is repeated after a split vote, and not single names. A node answers all names of a piece at once,
// so of several callers with the same names one gets a majority for all of them.
func (l *Locker) TryAll(ctx context.Context, locks []kind.Kind, ttl time.Duration) Prefix {
	pause := splitDelay
	for try := 1; ; try++ {
		p := l.attemptAll(ctx, locks, ttl, false)
		if p.Refusal == nil || p.Refusal.Kind != Contended || try == splitTries || ctx.Err() != nil {
			return p
		}
		if !l.sleep(ctx, jitter(l.Fan, pause), nil) {
			return p
		}
		pause = min(2*pause, l.RetryDelay, splitMost)
	}
}

// TakeFirst makes one attempt for all names as TryAll does, but keeps the names before the first one that was refused.
// It does not repeat a split vote: the caller waits for that name.
func (l *Locker) TakeFirst(ctx context.Context, locks []kind.Kind, ttl time.Duration) Prefix {
	return l.attemptAll(ctx, locks, ttl, true)
}

// attemptAll asks for all names at once. keep says that the names before the first refused one are kept.
func (l *Locker) attemptAll(ctx context.Context, locks []kind.Kind, ttl time.Duration, keep bool) (p Prefix) {
	if answers := l.Fan.Settle(ctx); answers != nil {
		p.Refusal = bid.Refuse(answers, nil, ctx.Err() != nil)
		return p
	}
	ticket := l.Fan.StampAt(l.Fan.Now())
	bids := make([]*bidder, len(locks))
	for i, lock := range locks {
		bids[i] = newBidder(l.Fan, lock, l.NewOwner(ticket), ttl, 0)
	}
	l.Fan.Together(func() {
		for _, b := range bids {
			b.begin()
		}
	})
	for p.At < len(bids) {
		l.decide(ctx, bids[p.At])
		if p.Refusal = bids[p.At].looks(); p.Refusal != nil {
			break
		}
		p.At++
	}
	if p.Refusal != nil && p.Refusal.Doubt && ctx.Err() == nil && !l.stopped() {
		l.endAll(bids[p.At+1:])
		bids[p.At].end(false) // see attempt
		p.Refusal = l.settled(ctx, bids[p.At])
	}
	if kept := bids[:p.At]; p.Refusal != nil && !keep {
		l.endAll(bids)
	} else {
		l.endAll(bids[p.At:])
		for i, b := range kept {
			g, late := b.outcome(true)
			if late != nil {
				l.endAll(kept[i:])
				p.At, p.Refusal = i, late
				break
			}
			p.Grants = append(p.Grants, g)
		}
	}
	return p
}

// endAll gives back several bids. What goes to a node travels in one piece.
func (l *Locker) endAll(bids []*bidder) {
	l.Fan.Together(func() {
		for _, b := range bids {
			b.giveUp()
		}
	})
}

// looks returns nil if the bid is won, and otherwise why it is not, as far as that is known. It looks once for both.
func (b *bidder) looks() *Refusal {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.machine.Won() {
		return nil
	}
	return b.machine.Refused(true)
}
