package bid

import (
	"maps"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Past is a client's knowledge about its bids that are over, but may still get hand-offs. It is not safe for concurrent
// use.
type Past struct {
	client string
	claim  time.Duration // duration of a claim

	// The time at which each owner got the lock, kept for as long as a claim lasts. One release causes hand-offs of all
	// nodes. A majority of them is enough to win, and the others come later.
	since map[string]clock.Instant
	swept clock.Instant

	waits map[int64][]Kept // by ticket: the waits that continue after the end of a bid
}

// Kept is a hand-off to a bid that is over. It has no answer yet.
type Kept struct {
	Node int
	Of   nodescript.Handoff
}

// Fate is the right treatment of a hand-off to a bid that is over.
type Fate uint8

// Fates.
const (
	Ignored  Fate = iota // no answer
	Declined             // decline it: no waiter of this client can use the claim
	GoesOn               // the owner's wait goes on: it is declined behind the next question of the wait
)

// NewPast returns the past of a client that has made no bid. claim is the duration of a claim.
func NewPast(client string, claim time.Duration) Past {
	return Past{client: client, claim: claim, since: map[string]clock.Instant{}, waits: map[int64][]Kept{}}
}

// Won notes that owner got the lock.
func (p *Past) Won(owner string, now clock.Instant) {
	if now.Sub(p.swept) > p.claim {
		maps.DeleteFunc(p.since, func(_ string, since clock.Instant) bool { return now.Sub(since) > p.claim })
		p.swept = now
	}
	p.since[owner] = now
}

// Fate returns the treatment of a hand-off to an owner that has no bid. A node that came back with an older memory may
// have many bids in its queue that are over. Each of them would cost the other waiters the duration of a claim. So a
// hand-off is declined, except in these cases:
//
//   - The owner is not of this client. Anybody may publish, and a decline deletes a key whose value is the owner.
//   - The owner has just won the lock. The release of its lease also ends the claim, or a renewal brings the lease to
//     that node.
//   - The owner's wait goes on. The ticket of its next bid is the same, so that bid has the same place in the queue. It
//     must be there before the node hands the name on.
func (p *Past) Fate(owner string, now clock.Instant) Fate {
	ticket, ok := nodescript.Ticket(owner)
	if !ok || nodescript.ClientOf(owner) != p.client {
		return Ignored
	}
	if since, ok := p.since[owner]; ok && now.Sub(since) <= p.claim {
		return Ignored
	}
	if _, there := p.waits[ticket]; there {
		return GoesOn
	}
	return Declined
}

// WaitGoesOn notes that the wait with this ticket has ended a bid and will make another one.
func (p *Past) WaitGoesOn(ticket int64) {
	if _, there := p.waits[ticket]; !there {
		p.waits[ticket] = nil
	}
}

// WaitEnded ends the note of WaitGoesOn. It returns the hand-offs that were kept for the wait.
func (p *Past) WaitEnded(ticket int64) []Kept {
	all := p.waits[ticket]
	delete(p.waits, ticket)
	return all
}

// Keep keeps a hand-off for the next bid of its wait. The claim keeps the wait's place until then. Keep reports false
// if the wait is over.
func (p *Past) Keep(k Kept) bool {
	ticket, _ := nodescript.Ticket(k.Of.Owner)
	_, there := p.waits[ticket]
	if there {
		p.waits[ticket] = append(p.waits[ticket], k)
	}
	return there
}

// Take returns the hand-offs that were kept for a wait, and keeps them no longer.
func (p *Past) Take(ticket int64) []Kept {
	all, there := p.waits[ticket]
	if there {
		p.waits[ticket] = nil
	}
	return all
}
