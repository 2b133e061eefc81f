package waiting

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// partEvery is the mean pause between two questions to all nodes while the bid has a part of them, at
// first: somebody older may have come to the others since, and nobody has the name until one of the two asks.
const partEvery = 200 * time.Millisecond

// learn takes from a node's answer whether it has granted, so that this bid has it. What a node that did not
// answer has is not known: it is not to be asked more often for that. b.mu is held.
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

// partPause is how long a bid with a part of the nodes waits until it asks all: longer and longer, up to every
// second, as others do. A part that lasts is that of who is cut off from some nodes. b.mu is held.
func (b *bid) partPause() time.Duration {
	lasted := max(b.fan.Now().Sub(b.halved), 0)
	return min(jitter(b.fan, partEvery+lasted/5), askEvery)
}

// split deals with a minority that the round of all nodes, which has failed, left with
// this bid; it reports whether all are to be asked once more, soon. On the other nodes the
// lock may just be on its way here. If it is not, and somebody there waits for longer, the
// minority is given back; the bid goes on. Of two that hold a part each, one keeps and one
// gives: they cannot swap for ever. b.mu is held.
func (b *bid) split() (soon bool) {
	part := b.part & b.which(b.votes.Granted) // an earlier grant may be followed by another
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

// wanted gives back what a node granted to stamp: the holder of a lease wants to repair it there. It believed in its lease
// a moment ago, so the others of a majority are not to be had, whoever came first. Where answers are missing that might
// still make a majority, this round is over: they may be those of nodes that hang. A round that won is no part.
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

// yields reports whether a node's answer is that somebody has it who has waited for longer. Not a lease that
// nobody renews: it ends, by each node's own clock, and not in the same moment.
func (b *bid) yields(a nodescript.Answer) bool {
	ends := !a.Claim && !a.Foreign && a.Left <= b.fan.Set().Window
	return a.Verdict == nodescript.Held && !ends && b.before(a.Owner)
}

// before reports whether owner has waited for longer. Equal tickets are in the order of the nodes' queues, by
// owner; but those of one client are of one wait, which keeps its ticket over its bids.
func (b *bid) before(owner string) bool {
	ticket, ok := nodescript.Ticket(owner)
	if ok && ticket == b.ticket {
		return owner < b.owner && nodescript.ClientOf(owner) != nodescript.ClientOf(b.owner)
	}
	return !ok || ticket < b.ticket
}
