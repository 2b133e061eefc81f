package waiting

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
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
// lock may just be on its way here. If it is not, and is of more use to somebody there, the
// minority is given back; the bid goes on. b.mu is held.
//
// Of two that hold a part each, the older keeps and the younger gives: they cannot swap for ever. But
// whoever has a majority has the lock, and may need the others when nodes fail. Only if it lasts: one
// whose grants were lost does not know that it has a majority, and is about to give that back.
func (b *bid) split() (soon bool) {
	now := b.fan.Now()
	older := b.look(now)
	part := b.part & b.which(b.votes.Granted) // an earlier grant may be followed by another
	if part == 0 {
		return false
	}
	if b.halved == 0 {
		b.halved = now
		return true
	}
	lasts := b.holder != "" && now.Sub(b.holds) >= partEvery+2*b.fan.Timeout()
	if now.Sub(b.halved) >= gather/2 && (older || lasts) {
		b.part, b.halved = b.part&^part, 0
		b.spare.gaveBack(part, now.Add(b.fan.Set().MaxTTL/2))
		b.release(part.has)
	}
	return false
}

// look reports whether somebody older has a part, and notes who has a majority, and since when. b.mu is held.
func (b *bid) look(now clock.Instant) (older bool) {
	held, holder := make(map[string]int), ""
	for _, a := range b.votes.Answers() {
		if a.Verdict != nodescript.Held {
			continue
		}
		if !a.Claim && !a.Foreign && a.Left <= b.fan.Set().Window {
			continue // nobody renews it: it ends, by each node's own clock, and not in the same moment
		}
		older = older || b.before(a.Owner)
		if a.Claim {
			continue
		}
		if held[a.Owner]++; held[a.Owner] >= quorum.Majority(b.fan.N()) {
			holder = a.Owner
		}
	}
	if holder != b.holder {
		b.holder, b.holds = holder, now
	}
	return older
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
