package bid

import (
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// mostMoves is the number of times that a bid moves to another slot for one reason to ask (see newReason). There is a
// limit, because a slot may be taken between two rounds, and many bids that come at the same moment take each other's
// slots.
const mostMoves = 8

// patientTries is the number of failed rounds with all nodes after which the bid no longer expects a younger owner to
// move to another slot. A younger bid moves away from the slot of an older bid, but a lease does not.
const patientTries = 2

// slots is the part of a bid that only a bid for a slot of a semaphore needs. Each round asks all nodes for the same
// slot, because grants of different slots never count together.
type slots struct {
	at    int // the slot of the current round
	from  int // the slot of the rounds before; -1: there is none
	since int // the number of the first round for at
	moves int // the number of moves since the last reason to ask
	tries int // the number of failed rounds with all nodes for at

	strays Nodes   // a late question for an earlier slot may have put the bid into their queues
	offers []int   // by node: the slot that the node has for this bid, -1 if none
	taken  []taken // by node: the last refusal
}

// taken is a refusal of a slot.
type taken struct {
	slot  int  // -1: none
	older bool // the owner that has the slot came before this bid
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

// slotNow is Slot for actions.
func (m *Machine) slotNow() int16 { return int16(m.Slot()) }

// From returns the slot of the rounds before, from which the bid moves. It is -1 if there is none.
func (m *Machine) From() int {
	if m.slots == nil {
		return -1
	}
	return m.slots.from
}

// newReason notes a reason to ask: the next question to all nodes, or a hand-off. The bid may then move mostMoves times
// again.
func (m *Machine) newReason() {
	if m.slots != nil {
		m.slots.moves = 0
	}
}

// Offered notes that a node has a slot for this bid. The event [Machine.Handed] follows.
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
		// The slot is of no use. The node did not look for another one, so the bid tries the next slot.
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

// best returns the slot to ask for next. For each slot it counts the nodes that have the slot for this bid, minus the
// nodes that refused it. It takes the slot with the highest count. If several slots are equal, it takes the present
// one, or else the one of the first node. One node has different slots for different bids, so bids that follow the same
// node do not meet.
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

// movesOn reports whether the bid asks for another slot after a failed round.
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

// movesLate reports whether a late answer to a failed round shows a slot that is better than the present one. Otherwise
// the bid would ask for that slot only with its next regular question.
func (m *Machine) movesLate() bool {
	if !m.ofSlots() || m.settled() || m.slots.moves >= mostMoves || m.best() == m.slots.at {
		return false
	}
	m.slots.moves++
	return true
}

// move changes the slot of the next round. It returns the action that gives the partial grants of the last slot back,
// and whether there are any. Missing answers no longer count: if they are grants, the bid gives them back too.
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

// chosen chooses the slot of the round that begins.
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

// answeredEarlier takes an answer to a question for another slot than the current one.
func (m *Machine) answeredEarlier(now clock.Instant, node, tag int, ans nodescript.Answer, joined bool) {
	joined = joined || m.Ticket != 0 && ans.MayHaveRun()
	if joined {
		m.slots.strays = m.slots.strays.With(node)
	}
	ans.Verdict = nodescript.NotMine // a grant of that slot is given back
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
