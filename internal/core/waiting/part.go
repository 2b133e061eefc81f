package waiting

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// partEvery is the mean pause, at first, between two questions to all nodes while the bid has a partial grant. An older
// waiter may have come to the other nodes since, and nobody gets the name until one of the two asks.
const partEvery = 200 * time.Millisecond

// learn notes whether a node's answer is a grant, so that this bid has the node. A node that did not answer does not
// count: what it granted is unknown, and that is no reason to ask it more often. b.mu is held.
func (b *bid) learn(node int, ans nodescript.Answer) {
	if ans.Verdict == nodescript.Granted {
		b.part = b.part.with(node)
	} else {
		b.part = b.part.without(node)
	}
	if b.part == 0 {
		b.halved = 0
	}
}

// partPause returns the pause before a bid with a partial grant asks all nodes again. It grows up to a second, the
// pause of other waiters. A partial grant lasts if the waiter is cut off from some nodes. b.mu is held.
func (b *bid) partPause() time.Duration {
	lasted := max(b.fan.Now().Sub(b.halved), 0)
	return min(jitter(b.fan, partEvery+lasted/5), askEvery)
}

// split deals with the partial grant that a failed round with all nodes left. It reports whether the bid must ask all
// nodes once more, soon: the hand-offs of the other nodes may just be on their way. If they do not come, and a node
// names an older waiter, split gives the partial grant back and the bid goes on. If two bids have a partial grant each,
// one keeps and one gives, so they cannot swap for ever. b.mu is held.
func (b *bid) split() (soon bool) {
	part := b.part & b.which(b.votes.Granted) // this excludes an earlier grant: another one may follow it
	if part == 0 {
		return false
	}
	now := b.fan.Now()
	if b.halved == 0 {
		b.halved = now
		return true
	}
	if now.Sub(b.halved) >= gather/2 && slices.ContainsFunc(b.votes.Answers(), b.yields) {
		b.part, b.halved = b.part&^part, 0
		b.spare.gaveBack(part, now.Add(b.fan.Set().MaxTTL/2))
		b.release(part.has)
	}
	return false
}

// wanted gives back a node's grant to stamp, because the holder of a lease wants to repair its lease there. The holder
// relied on its lease a moment ago. So this bid cannot get the rest of a majority, whoever came first. If an open round
// could still get a majority, wanted ends it, because the missing answers may be those of nodes that hang. A round that
// won has a majority, and wanted changes nothing.
func (b *bid) wanted(node int, stamp int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == over || b.state == won || b.from != nil || stamp > b.stamp {
		return
	}
	if b.state == open {
		b.votes.End()
		b.become(failed)
	}
	b.part = b.part.without(node)
	if b.part == 0 {
		b.halved = 0
	}
	n := nodes(0).with(node)
	b.spare.gaveBack(n, b.fan.Now().Add(b.fan.Set().MaxTTL/2))
	b.release(n.has)
}

// yields reports whether a node's answer says that an older waiter has the name. An expiring lease that nobody renews
// does not count: it ends on each node by that node's clock, and so not everywhere at the same moment.
func (b *bid) yields(a nodescript.Answer) bool {
	ends := !a.Claim && !a.Foreign && a.Left <= b.fan.Set().Window
	return a.Verdict == nodescript.Held && !ends && b.before(a.Owner)
}

// before reports whether owner has waited for longer than this bid. For equal tickets it compares the owners, as the
// nodes' queues do. Owners of one client with one ticket belong to one wait, which keeps its ticket over its bids.
func (b *bid) before(owner string) bool {
	ticket, ok := nodescript.Ticket(owner)
	if ok && ticket == b.ticket {
		return owner < b.owner && nodescript.ClientOf(owner) != nodescript.ClientOf(b.owner)
	}
	return !ok || ticket < b.ticket
}
