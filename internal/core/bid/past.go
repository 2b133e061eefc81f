package bid

import (
	"maps"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Past is the knowledge of a client about its ended bids. Nodes may still send hand-offs to them. Past is not safe
// for concurrent use.
type Past struct {
	client string
	claim  time.Duration // the duration of a claim

	// since contains, for each owner that got the lock, when it got the lock. Past keeps an entry for as long as a
	// claim lasts. A release causes hand-offs by all nodes. A majority of them is enough to win, and the others come
	// later.
	since map[string]clock.Instant
	swept clock.Instant

	waits map[int64][]Kept // by ticket: the waits that have ended a bid and will make another, with the hand-offs stored for them
}

// Kept is a hand-off to a bid that has ended. The client stores it until the next bid of the wait can answer it.
type Kept struct {
	Node int
	Of   nodescript.Handoff
}

// Fate says how the client treats a hand-off to a bid that has ended.
type Fate uint8

// These are the fates.
const (
	Ignored  Fate = iota // send no answer
	Declined             // decline it: no waiter of this client can use the claim
	GoesOn               // the owner's wait continues: store the hand-off, and decline it after the next bid of the wait has asked
)

// NewPast returns the past of a client without bids. client is the client id, and claim is the duration of a claim.
func NewPast(client string, claim time.Duration) Past {
	return Past{client: client, claim: claim, since: map[string]clock.Instant{}, waits: map[int64][]Kept{}}
}

// Won notes that owner got the lock at the instant now.
func (p *Past) Won(owner string, now clock.Instant) {
	if now.Sub(p.swept) > p.claim {
		maps.DeleteFunc(p.since, func(_ string, since clock.Instant) bool { return now.Sub(since) > p.claim })
		p.swept = now
	}
	p.since[owner] = now
}

// Fate says how the client treats a hand-off to an owner without a bid. Usually the client declines it. A node that
// came back with an older memory may have many ended bids in its queue. Without a decline, the other waiters would
// wait for the duration of a claim for each of them. There are three exceptions:
//
//   - The owner does not belong to this client. Any client of the server may publish such a message, and a decline would
//     delete a key whose value is that owner.
//   - The owner has just won the lock. The release of its lease will end the claim, or a renewal will store the lease on
//     that node.
//   - The owner's wait continues. Its next bid has the same ticket, and so the same place in the queue. That bid must be in
//     the queue before the node hands the name on.
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

// WaitEnded removes the note of WaitGoesOn. It returns the hand-offs that are stored for the wait.
func (p *Past) WaitEnded(ticket int64) []Kept {
	all := p.waits[ticket]
	delete(p.waits, ticket)
	return all
}

// Keep stores a hand-off for the next bid of its wait. Until that bid answers, the claim keeps the place of the wait
// in the queue. Keep returns false if the wait has ended.
func (p *Past) Keep(k Kept) bool {
	ticket, _ := nodescript.Ticket(k.Of.Owner)
	_, there := p.waits[ticket]
	if there {
		p.waits[ticket] = append(p.waits[ticket], k)
	}
	return there
}

// Take returns the hand-offs that are stored for a wait, and removes them.
func (p *Past) Take(ticket int64) []Kept {
	all, there := p.waits[ticket]
	if there {
		p.waits[ticket] = nil
	}
	return all
}
