package bid

import (
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Answered takes a node's answer to the stamp of a round. tag is the number of that round.
func (m *Machine) Answered(now clock.Instant, node, tag int, ans nodescript.Answer) []Action {
	m.start()
	joined := ans.Verdict == nodescript.Held && (ans.Rank >= 0 || m.Ticket != 0 && ans.Offered)
	if joined || m.Ticket != 0 && ans.MayHaveRun() {
		m.stands = m.stands.With(node)
	}
	if m.ofSlots() {
		if tag < m.slots.since {
			m.answeredEarlier(now, node, tag, ans, joined)
			return m.out
		}
		if ans.Verdict != nodescript.Held {
			ans.Slot = m.slots.at // for the error
		}
		m.learnSlot(node, ans)
	}
	out := m.votes.Answer(node, tag, ans)
	m.learn(node, ans)
	if ans.Verdict == nodescript.Stale {
		m.emit(Action{Do: Raise, Stamp: ans.Seen})
	}
	switch {
	case m.state == over:
		m.answeredLate(now, node, ans, joined)
	case m.state != open && tag == m.tag && m.movesLate():
		m.draw(round{to: m.which(m.votes.Asked), whole: m.whole})
		return m.out // Draw is the last action
	case m.state != open:
		m.answeredMissing(now, tag)
	case tag != m.tag && ans.Verdict == nodescript.Granted && !m.votes.Asked(node):
		m.ask(One(node)) // this grant is for an earlier stamp: only the current stamp counts
	case ans.Verdict == nodescript.Held && ans.Owner == m.Owner && !m.ofSlots():
		// The waiters before us in the queue were gone, so the node reserved the name for the owner of this question.
		m.waited = true
		m.handed(node)
	case out == quorum.Open && ans.Verdict == nodescript.Granted && m.spare.nodes != 0:
		m.askSpared()
	case out == quorum.Again:
		// The new round asks the same nodes. If the last question went to all nodes, the new round counts as a round
		// with all nodes too.
		m.draw(round{to: m.which(m.votes.Asked), chase: true, whole: m.whole})
	case out == quorum.Won:
		m.become(won)
	case out == quorum.Failed:
		m.drop(Every)
		m.from = Passed{}
		if m.movesOn() {
			m.draw(round{to: m.which(m.votes.Asked), whole: m.whole})
			break
		}
		m.become(failed)
	}
	m.rest()
	return m.out
}

// answeredLate takes an answer that comes after the end of the bid.
func (m *Machine) answeredLate(now clock.Instant, node int, ans nodescript.Answer, joined bool) {
	if m.taken {
		m.leaveStray(node, now)
	}
	switch {
	case joined && m.taken && m.ended:
		// The lease's release may have reached the node before this acquire, or is still under way. So the bid leaves
		// the queue again, and declines a claim. This request covers no stamp. If it covered the stamp of the lease and
		// overtook the release or an UnlockAt, the lease would look lost, or the name would not stay taken.
		m.emit(Action{Do: Abort, To: One(node), Owner: m.Owner, Slot: m.slotNow(), At: now.Add(nodescript.QueueKept)})
	case joined && !m.taken, !m.taken && ans.MayHaveRun():
		// The bid's release may have reached the node before this acquire. The node may even have reserved the name for
		// this owner since then. So the bid sends the release again.
		m.release(One(node), now)
	case m.taken && m.stands.Has(node) && ans.Verdict != nodescript.Granted:
		m.quit(node, now) // the bid quits even if an earlier question joined the queue and this one was not sent
	}
	if m.taken && ans.Verdict != nodescript.Granted {
		m.drop(One(node))
	}
	m.emit(Action{Do: Wake}) // an attempt may wait for the reason of its failure
}

// answeredMissing takes an answer to a decided round. The answer was missing when Next looked at the other answers.
func (m *Machine) answeredMissing(now clock.Instant, tag int) {
	switch current := m.state == idle && m.whole && tag == m.tag; {
	case current && m.alone():
		m.become(failed) // a minority has answered that the name is held, and all other nodes are given up
	case current && m.split(now):
		m.emit(Action{Do: Wake})
	}
}
