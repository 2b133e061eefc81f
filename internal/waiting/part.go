package waiting

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
)

// partEvery is the mean pause between two questions to all nodes while the bid has a part of them.
// Somebody older may have come to the others since, and nobody has the name until one of the two asks.
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

// split deals with a minority that the round of all nodes, which has failed, left with
// this bid; it reports whether all are to be asked once more, soon. On the other nodes the
// lock may just be on its way here. If it is not, and is of more use to somebody there, the
// minority is given back; the bid goes on. b.mu is held.
func (b *bid) split() (soon bool) {
	if b.part == 0 {
		return false
	}
	now := b.fan.Now()
	if b.halved == 0 {
		b.halved = now
		return true
	}
	if now.Sub(b.halved) >= gather/2 && b.yields() {
		part := b.part
		b.part, b.halved = 0, 0
		b.spare.gaveBack(part, now.Add(b.fan.Set().MaxTTL/2))
		b.release(part.has)
	}
	return false
}

// yields reports whether somebody is to have the minority that this bid has. Who waits for longer: of two that
// hold a part each, one keeps and one gives, so they cannot swap for ever. And whoever has a majority: it has
// the lock, and may need these nodes to keep it when others fail. b.mu is held.
func (b *bid) yields() bool {
	held := make(map[string]int)
	for _, a := range b.votes.Answers() {
		if a.Verdict != nodescript.Held {
			continue
		}
		if !a.Claim && !a.Foreign && a.Left <= b.fan.Set().Window {
			continue // nobody renews it: it ends, by each node's own clock, and not in the same moment
		}
		if ticket, ok := nodescript.Ticket(a.Owner); !ok || ticket < b.ticket {
			return true
		}
		if held[a.Owner]++; !a.Claim && held[a.Owner] >= quorum.Majority(b.fan.N()) {
			return true
		}
	}
	return false
}
