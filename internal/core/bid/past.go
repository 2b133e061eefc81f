package bid

import (
	"maps"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Past is a client's knowledge of its finished bids, which may still get hand-offs. It is not safe for concurrent use.
type Past struct {
	client string
	claim  time.Duration // the duration of a claim

	// since contains the time at which each owner got the lock. It keeps the time for as long as a claim lasts. One
	// release causes hand-offs of all nodes. A majority of them is enough to win, and the others come later.
	since map[string]clock.Instant
	swept clock.Instant

	waits map[int64][]Kept // the hand-offs of waits that continue after the end of a bid, by ticket
}

// Kept is a hand-off to a finished bid, before the client has answered it.
type Kept struct {
	Node int
	Of   nodescript.Handoff
}

// Fate is the right treatment of a hand-off to a finished bid.
type Fate uint8

// These are the fates.
const (
	Ignored  Fate = iota // send no answer
	Declined             // decline it: no waiter of this client can use the claim
	GoesOn               // the owner's wait continues, so decline the hand-off after the next question of the wait
)

// NewPast returns the past of a client that has not made any bid. claim is the duration of a claim.
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
// have many finished bids in its queue. Each of them would cost the other waiters the duration of a claim. So the
// client declines a hand-off, except in these cases:
//
//   - The owner does not belong to this client. Any client of the server may publish, and a decline deletes a key whose
//     value is the owner.
//   - The owner has just won the lock. The release of its lease also ends the claim, or a renewal brings the lease to
//     that node.
//   - The owner's wait continues. Its next bid has the same ticket, and so the same place in the queue. That bid must
//     be in the queue before the node hands the name on.
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

// WaitGoesOn notes that the wait with this ticket has ended a bid and will make another bid.
func (p *Past) WaitGoesOn(ticket int64) {
	if _, there := p.waits[ticket]; !there {
		p.waits[ticket] = nil
	}
}

// WaitEnded ends the note of WaitGoesOn. It returns the hand-offs that Keep kept for the wait.
func (p *Past) WaitEnded(ticket int64) []Kept {
	all := p.waits[ticket]
	delete(p.waits, ticket)
	return all
}

// Keep keeps a hand-off for the next bid of its wait. The claim keeps the wait's place until then. Keep returns false
// if the wait has ended.
func (p *Past) Keep(k Kept) bool {
	ticket, _ := nodescript.Ticket(k.Of.Owner)
	_, there := p.waits[ticket]
	if there {
		p.waits[ticket] = append(p.waits[ticket], k)
	}
	return there
}

// Take returns the hand-offs that Keep kept for a wait. Past does not keep them after that.
func (p *Past) Take(ticket int64) []Kept {
	all, there := p.waits[ticket]
	if there {
		p.waits[ticket] = nil
	}
	return all
}
