package bid

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// AskEvery is the longest pause between two questions to all nodes. Messages can be lost. With these questions a
// waiter also finds the name free after a holder died, after a hand-off was lost, and after a foreign client released
// its key. The first pause of a bid has this length, and the second one is a random part of it. Otherwise many waiters
// that came at the same moment would ask at the same moments for ever. [Pause] has the reasons for shorter ones.
const AskEvery = time.Second

// round describes a round that begins when its stamp is drawn.
type round struct {
	to    Nodes
	chase bool // the only reason for the round: nodes have seen a higher token
	whole bool // the round counts as a round with all nodes
	pass  bool // the round takes over a passed lease
	keep  bool // later rounds do not withdraw this question
	wake  bool // wake the waiter when the round begins
}

// Begin begins the first round. If a pass to this owner has already begun a round, Begin does nothing.
func (m *Machine) Begin(now clock.Instant) []Action {
	m.start()
	if m.stamp == 0 {
		m.askAll(now)
	}
	return m.out
}

// AskAll begins a round with all nodes.
func (m *Machine) AskAll(now clock.Instant) []Action {
	m.start()
	m.askAll(now)
	return m.out
}

// Join begins a round with all nodes, so that the bid joins their queues. If a round is open, Join does nothing: that
// round joins the queues, too, or takes over a passed lease.
func (m *Machine) Join(now clock.Instant) []Action {
	m.start()
	if !m.Asking() {
		m.askAll(now)
	}
	return m.out
}

// AskAgain begins another round with all nodes, except in three cases:
//
//   - A round with all nodes is open. A node may need longer for an answer, or for a timeout, than the waiter pauses. If
//     each question ended the round before it, no round would ever be decided.
//   - A node of the partial grant has not answered the last question, and that question is younger than AskEvery. With a
//     new question, the bid would never learn whether it still has this grant.
//   - The waiter asks more often than AskEvery because of gaps, only a minority has answered, and the last question is
//     younger than AskEvery. With a new question, the bid would never learn that the other nodes do not answer.
//
// every is the waiter's longest pause.
func (m *Machine) AskAgain(now clock.Instant, every time.Duration) []Action {
	m.start()
	few, all := m.few()
	owed := m.whole && now.Sub(m.sent) < AskEvery &&
		(m.which(m.votes.Pending)&m.part != 0 || every < AskEvery && few && !all)
	if m.state != open && !owed || !m.whole {
		m.askAll(now)
	}
	return m.out
}

// HeardAgain begins a round because the subscription to a node works again. It does so at most once a second for each
// node. A subscription that breaks and works again many times a second must not make the bid ask as often.
func (m *Machine) HeardAgain(now clock.Instant, node int) []Action {
	m.start()
	if now.Sub(m.again.since) >= AskEvery {
		m.again.nodes, m.again.since = 0, now
	}
	if !m.again.nodes.Has(node) {
		m.again.nodes = m.again.nodes.With(node)
		m.askAll(now)
	}
	return m.out
}

// JoinFirst sends a question that joins the nodes' queues. The caller sends a release right after it, in the same
// piece. The release alone would hand the name to a later waiter. An earlier question that is still under way is not
// enough: the release may overtake it on another connection. Later rounds do not withdraw this question. JoinFirst
// returns false if the bid has ended or won.
func (m *Machine) JoinFirst(now clock.Instant) (actions []Action, ok bool) {
	m.start()
	if m.settled() {
		return nil, false
	}
	if m.state != open || !m.Passing() {
		m.draw(round{to: m.spare.leave(now, m.N), whole: true, keep: true})
	}
	return m.out, true
}

// askAll begins a round with all nodes, unless the bid has ended or won.
func (m *Machine) askAll(now clock.Instant) {
	if !m.settled() {
		m.newReason()
		m.draw(round{to: m.spare.leave(now, m.N), whole: true})
	}
}

// settled reports whether the bid has ended or won.
func (m *Machine) settled() bool { return m.state == over || m.state == won }

// draw begins a round. The caller then draws the stamp of the round and passes it to Stamped.
func (m *Machine) draw(r round) {
	m.next = r
	m.emit(Action{Do: Draw})
}

// Stamped handles the stamp of the new round and the instant at which the stamp was drawn. If no stamp could be drawn,
// err is the reason, and the round fails at once.
func (m *Machine) Stamped(stamp int64, sent clock.Instant, err error) []Action {
	m.start()
	r := m.next
	if err != nil {
		m.failRound(r, err)
	} else {
		if m.stamp != 0 {
			m.emit(Action{Do: Withdraw}) // the new round replaces the last one, and so does its question
		}
		last, moved := m.chosen(r)
		if m.Passing() && m.ofSlots() && m.slots.at != int(m.from.Slot) {
			m.drop(Every) // the bid takes another slot, so it replaces the old owner on no node any more
			m.from = Passed{}
		}
		m.state, m.whole, m.err = open, r.whole, nil
		m.stamp, m.sent = stamp, sent
		m.tag = m.votes.Begin(r.chase)
		m.ask(r.to)
		if moved {
			m.emit(last)
		}
	}
	if r.keep {
		m.emit(Action{Do: Keep})
	}
	if r.wake {
		m.emit(Action{Do: Wake})
	}
	return m.out
}

// failRound ends a round for which no stamp could be drawn.
func (m *Machine) failRound(r round, err error) {
	m.err = err
	m.whole = m.whole || r.whole
	if r.pass {
		m.from = Passed{}
	}
	m.become(failed)
	m.rest()
}

// ask sends the current question to some nodes.
func (m *Machine) ask(to Nodes) {
	m.claimed &^= to
	for i := range m.N {
		if to.Has(i) {
			m.votes.Ask(i)
		}
	}
	a := Action{Do: Acquire, To: to, Owner: m.Owner, Slot: m.slotNow(), Tag: int32(m.tag), Stamp: m.stamp, At: m.sent}
	switch {
	case m.Passing():
		a.Do, a.Owner = Pass, m.from.Owner
	case m.Ticket != 0:
		a.Do = Queue
	}
	m.emit(a)
}
