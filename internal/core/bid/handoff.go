package bid

import (
	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Passed is a lease that its owner has ended in order to give it to a waiter of the same process.
type Passed struct {
	Owner   string
	Highest int64         // the highest stamp sent under Owner
	Over    clock.Instant // the instant at which the lease has expired on all nodes
	Passes  int           // the number of passes in a row that brought the lease to Owner
	Slot    int16         // the slot of a semaphore
}

// Passed begins a round that takes over a lease from another owner of this process. It needs one round trip. A
// release, a hand-off and an acquire would need three. Passed returns no actions if the bid cannot take the lease: it
// has ended, has won, or is already taking over another lease. Otherwise call [Machine.Passing] after the stamp was
// drawn: it reports whether the bid takes the lease. A bid that takes the lease also releases the old owner on the
// nodes.
func (m *Machine) Passed(from Passed) []Action {
	m.start()
	if m.settled() || m.Passing() || m.ofSlots() && from.Slot >= m.Slots {
		return nil
	}
	// passes limits how often the lock stays in this process. A pass that fails counts, too: it may leave a partial
	// grant, and a hand-off may then complete it to a lease.
	m.from, m.passes = from, from.Passes+1
	m.draw(round{to: Every, whole: true, pass: true})
	return m.out
}

// Passing reports whether the bid is taking over a lease of another owner.
func (m *Machine) Passing() bool { return m.from.Owner != "" }

// drop releases the old owner of a passed lease on nodes where the bid did not replace it.
func (m *Machine) drop(to Nodes) {
	if m.Passing() {
		m.emit(Action{Do: Release, To: to, Owner: m.from.Owner, Slot: m.from.Slot, Stamp: m.from.Highest, At: m.from.Over.Add(m.Window)})
	}
}

// Handed handles a hand-off: node has reserved the name for this owner. A release causes hand-offs by all nodes at
// nearly the same moment. For the first of them the bid draws a stamp. The nodes whose hand-offs follow get the same
// stamp.
func (m *Machine) Handed(now clock.Instant, node int) []Action {
	m.start()
	if m.settled() {
		return nil
	}
	m.waited = true
	m.halved = 0 // this restarts the time after which split gives a partial grant back: more hand-offs may follow
	m.newReason()
	if m.state == open && !m.votes.Asked(node) && now.Sub(m.sent) < m.Window/2 {
		m.ask(One(node))
		return m.out
	}
	m.handed(node)
	return m.out
}

// handed begins a round after node reserved the name. The round asks all nodes that may have reserved or granted the
// name.
func (m *Machine) handed(node int) {
	m.claimed = m.claimed.With(node)
	m.draw(round{to: m.granting(), wake: true})
}
