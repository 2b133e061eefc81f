package bid

import (
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Answered handles a node's answer to a round. tag is the number of that round.
func (m *Machine) Answered(now clock.Instant, node, tag int, ans nodescript.Answer) []Action {
	m.start()
	joined := ans.Verdict == nodescript.Held && (ans.Rank >= 0 || m.Ticket != 0 && ans.Offered)
	if joined || m.Ticket != 0 && ans.MayHaveRun() {
		m.inQueues = m.inQueues.With(node)
	}
	if m.ofSlots() {
		if tag < m.slots.since {
			m.answeredEarlier(now, node, tag, ans, joined)
			return m.out
		}
		if ans.Verdict != nodescript.Held {
			ans.Slot = m.slots.at // so that the refusal names a slot
		}
		m.learnSlot(node, ans)
	}
	out := m.votes.Answer(node, tag, ans)
	m.learn(node, ans)
	if ans.Verdict == nodescript.Stale {
		m.emit(Action{Do: Raise, Stamp: ans.Seen})
	}
	switch m.state {
	case over:
		m.answeredLate(now, node, ans, joined)
	case open:
		m.answeredOpen(node, tag, ans, out)
	default:
		if tag == m.tag && m.movesLate() {
			m.draw(round{to: m.which(m.votes.Asked), whole: m.whole})
			return m.out // Draw is the last action
		}
		m.answeredMissing(now, tag)
	}
	m.rest()
	return m.out
}

// answeredOpen handles an answer to an open round. out is the outcome of the round with this answer.
func (m *Machine) answeredOpen(node, tag int, ans nodescript.Answer, out quorum.Outcome) {
	granted := ans.Verdict == nodescript.Granted
	// If only some nodes were asked, their answers may decide nothing. A round with all nodes has failed then: nobody
	// else asks again while it is open.
	undecided := out == quorum.Open && m.whole && !m.votes.Waits()
	switch {
	case tag != m.tag && granted && !m.votes.Asked(node):
		m.ask(One(node)) // the node granted an earlier stamp, and only grants of the current stamp count
	case ans.Verdict == nodescript.Held && ans.Owner == m.Owner && !m.ofSlots():
		// The waiters before this one were gone, so the node reserved the name for this owner while it answered the
		// question.
		m.waited = true
		m.handed(node)
	case out == quorum.Open && granted && m.spare.nodes != 0:
		m.askSpared()
	case out == quorum.Again:
		// The new round asks the same nodes. If the last round was a round with all nodes, the new one counts as such
		// a round, too.
		m.draw(round{to: m.which(m.votes.Asked), chase: true, whole: m.whole})
	case out == quorum.Won:
		m.become(won)
	case out == quorum.Failed, undecided:
		m.drop(Every)
		m.from = Passed{} // the pass ends with the round that took it over
		if m.movesOn() {
			m.draw(round{to: m.which(m.votes.Asked), whole: m.whole})
			break
		}
		m.become(failed)
	}
}

// answeredLate handles an answer that comes after the end of the bid.
func (m *Machine) answeredLate(now clock.Instant, node int, ans nodescript.Answer, joined bool) {
	if m.taken {
		m.leaveStray(node, now)
	}
	switch {
	case joined && m.taken && m.ended:
		// The bid won, and its lease was released. The release may have reached the node before this acquire. The
		// acquire then put the bid into the queue again. So the bid leaves the queue, and declines a claim. This
		// request contains no stamp. If it contained the stamp of the lease, it would release the lease. If it then
		// overtook the release, the node would answer the release as if the lease had been lost. If it overtook an
		// UnlockAt, the node would not keep the name taken.
		m.emit(Action{Do: Abort, To: One(node), Owner: m.Owner, Slot: m.slotNow(), At: now.Add(nodescript.QueueKept)})
	case joined && !m.taken, !m.taken && ans.MayHaveRun():
		// The bid's release may have reached the node before this acquire. The acquire then put the bid into the queue
		// again, and the node may even have reserved the name for it since then. So the bid sends its release again.
		m.release(One(node), now)
	case m.taken && m.inQueues.Has(node) && ans.Verdict != nodescript.Granted:
		m.quit(node, now) // needed also if this question was withdrawn: an earlier question may have put the bid into the queue
	}
	if m.taken && ans.Verdict != nodescript.Granted {
		m.drop(One(node))
	}
	m.emit(Action{Do: Wake}) // settled may be waiting for this answer, to learn why the attempt failed
}

// answeredMissing handles a late answer to a decided round. When Next looked at the answers, this one was missing.
func (m *Machine) answeredMissing(now clock.Instant, tag int) {
	switch current := m.state == idle && m.whole && tag == m.tag; {
	case current && m.alone():
		m.become(failed) // a minority has answered that the name is held, and no other node can answer any more
	case current && m.split(now):
		m.emit(Action{Do: Wake})
	}
}
