package bid

import (
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// mostMoves is the number of times that a bid may move to another slot, for each reason to ask (see newReason).
// Without a limit, many bids that come at the same moment could take each other's slots and move again, round after
// round.
const mostMoves = 8

// patientTries is the number of failed rounds with all nodes after which a bid gives up a slot that a younger owner
// has. If that owner is a bid, it moves to another slot, so the older bid waits for that first. A lease never moves.
const patientTries = 2

// slots contains the fields that only a bid for a semaphore needs. Each round asks all nodes for the same slot,
// because grants of different slots do not count together.
type slots struct {
	at    int // the slot of the current round
	from  int // the slot of the rounds before the last move; -1: the bid has not moved
	since int // the number of the first round that asked for the slot at
	moves int // the number of moves since newReason was called last
	tries int // the number of failed rounds with all nodes for the slot at

	strays Nodes   // the nodes that may have put the bid into their queues because of a late question for an earlier slot
	offers []int   // by node: the slot that the node offers or granted to this bid; -1: none
	taken  []taken // by node: the last slot that the node refused
}

// taken is a slot that a node refused to give to this bid.
type taken struct {
	slot  int  // -1: none
	older bool // the owner of the slot came before this bid
}

func newSlots(n, first int) *slots {
	s := &slots{at: first, from: -1, offers: make([]int, n), taken: make([]taken, n)}
	for i := range n {
		s.offers[i], s.taken[i].slot = -1, -1
	}
	return s
}

// ofSlots reports whether the bid is for a slot.
func (m *Machine) ofSlots() bool { return m.slots != nil }

// Slot returns the slot of the current round, 0 for a lock.
func (m *Machine) Slot() int {
	if m.slots == nil {
		return 0
	}
	return m.slots.at
}

// slotNow returns the same as Slot, in the type that actions use.
func (m *Machine) slotNow() int16 { return int16(m.Slot()) }

// From returns the slot from which the bid moved to its present slot, or -1 if it has not moved.
func (m *Machine) From() int {
	if m.slots == nil {
		return -1
	}
	return m.slots.from
}

// newReason notes a reason to ask: the next regular question to all nodes, or a hand-off. The bid may then move
// mostMoves times again.
func (m *Machine) newReason() {
	if m.slots != nil {
		m.slots.moves = 0
	}
}

// Offered notes that a node has reserved a slot for this bid. The caller calls [Machine.Handed] next.
func (m *Machine) Offered(node, slot int) {
	if m.ofSlots() && slot < int(m.Slots) {
		m.slots.offers[node] = slot
	}
}

// learnSlot notes a node's answer to a question for the current slot.
func (m *Machine) learnSlot(node int, ans nodescript.Answer) {
	s := m.slots
	switch {
	case ans.Verdict == nodescript.Corrupt, ans.Cause == nodescript.WrongType:
		// This slot cannot be used. The node did not look for another one, so the bid tries the next slot.
		s.taken[node], s.offers[node] = taken{s.at, true}, (s.at+1)%int(m.Slots)
	case ans.Verdict == nodescript.Granted:
		s.offers[node], s.taken[node].slot = s.at, -1
	case ans.Verdict == nodescript.Held:
		s.taken[node] = taken{s.at, m.before(ans.Owner)}
		s.offers[node] = -1
		if ans.Offered && ans.Slot < int(m.Slots) {
			s.offers[node] = ans.Slot
		}
	}
}

// best returns the slot to ask for next. The score of a slot is the number of nodes that offer it to this bid, minus
// the number of nodes that refused it. best returns the slot with the highest score. For equal scores it prefers the
// present slot, then the offer of the first node. A node offers different slots to different bids. So bids that follow
// the offers of one node get different slots.
func (m *Machine) best() int {
	s := m.slots
	score := func(slot int) (n int) {
		for i, offer := range s.offers {
			if offer == slot {
				n++
			}
			if t := s.taken[i]; t.slot == slot && (t.older || s.tries >= patientTries) {
				n--
			}
		}
		return n
	}
	best, most := s.at, score(s.at)
	for _, offer := range s.offers {
		if offer >= 0 && score(offer) > most {
			best, most = offer, score(offer)
		}
	}
	return best
}

// movesOn reports whether the bid asks for another slot after a failed round. It counts that move.
func (m *Machine) movesOn() bool {
	if !m.ofSlots() {
		return false
	}
	if m.whole {
		m.slots.tries++
	}
	if m.slots.moves >= mostMoves || m.best() == m.slots.at {
		return false
	}
	m.slots.moves++
	return true
}

// movesLate reports whether a late answer to a failed round shows a slot that is better than the present one, and
// counts the move. Without it, the bid would ask for that slot only a pause later.
func (m *Machine) movesLate() bool {
	if !m.ofSlots() || m.settled() || m.slots.moves >= mostMoves || m.best() == m.slots.at {
		return false
	}
	m.slots.moves++
	return true
}

// move changes the slot. It returns the action that gives back the partial grants of the last slot, and whether there
// are any. If a late answer is a grant of the last slot, the bid gives that grant back, too.
func (m *Machine) move(slot int) (Action, bool) {
	s := m.slots
	if slot == s.at {
		return Action{}, false
	}
	last := Action{
		Do: Move, To: m.which(m.votes.Touched), Owner: m.Owner, Slot: int16(s.at), Stamp: m.stamp, At: m.sent.Add(m.TTL + m.Window),
	}
	s.from, s.at, s.tries = s.at, slot, 0
	m.part, m.halved = 0, 0
	m.votes.Forget()
	return last, m.stamp != 0 && last.To != 0
}

// chosen chooses the slot for the new round. Its results are those of move.
func (m *Machine) chosen(r round) (last Action, moved bool) {
	if !m.ofSlots() {
		return Action{}, false
	}
	slot, was := m.best(), m.slots.at
	if r.pass {
		slot = int(m.from.Slot)
	}
	last, moved = m.move(slot)
	if m.slots.at != was {
		m.slots.since = m.tag + 1
	}
	return last, moved
}

// answeredEarlier handles an answer to a question for an earlier slot.
func (m *Machine) answeredEarlier(now clock.Instant, node, tag int, ans nodescript.Answer, joined bool) {
	joined = joined || m.Ticket != 0 && ans.MayHaveRun()
	if joined {
		m.slots.strays = m.slots.strays.With(node)
	}
	ans.Verdict = nodescript.NotMine // the action Move gives a grant of that slot back
	m.votes.Answer(node, tag, ans)
	if m.state == over {
		m.answeredLate(now, node, ans, joined)
	}
	m.rest()
}

// leaveStray leaves the queue of a node that a late question for an earlier slot may have joined.
func (m *Machine) leaveStray(node int, now clock.Instant) {
	if m.ofSlots() && m.slots.strays.Has(node) {
		m.quit(node, now)
	}
}
