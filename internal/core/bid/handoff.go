package bid

import (
	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Passed is a lease that its owner has ended in favour of a waiter of the same process.
type Passed struct {
	Owner   string
	Highest int64         // the highest stamp sent under Owner
	Over    clock.Instant // instant at which the lease has expired on the nodes
	Passes  int           // passes in a row by which the lease came
	Slot    int16         // the slot of a semaphore
}

// Passed begins a round that takes the lease over from an owner of this process. It needs one round trip. A release, a
// hand-off and an acquire would need three. Passed returns no actions if the bid does not take the lease. Otherwise
// [Machine.Passing] reports, after the stamp was drawn, whether the bid takes it. If the bid takes the lease, it must
// release the remains of from.
func (m *Machine) Passed(from Passed) []Action {
	m.start()
	if m.settled() || m.Passing() || m.ofSlots() && from.Slot >= m.Slots {
		return nil
	}
	// passes is set even for a pass that fails. Such a pass may leave a partial grant, and the lock then comes by a
	// hand-off.
	m.from, m.passes = from, from.Passes+1
	m.draw(round{to: Every, whole: true, pass: true})
	return m.out
}

// Passing reports whether a lease is being passed to this bid.
func (m *Machine) Passing() bool { return m.from.Owner != "" }

// drop releases the passed lease on the nodes where this bid did not take it over.
func (m *Machine) drop(to Nodes) {
	if m.Passing() {
		m.emit(Action{Do: Release, To: to, Owner: m.from.Owner, Slot: m.from.Slot, Stamp: m.from.Highest, At: m.from.Over.Add(m.Window)})
	}
}

// Handed takes a hand-off: a node has reserved the name for this owner. One release causes hand-offs of all nodes
// within a moment. The bid draws a stamp for the first hand-off, and asks the other nodes with the same stamp.
func (m *Machine) Handed(now clock.Instant, node int) []Action {
	m.start()
	if m.settled() {
		return nil
	}
	m.waited = true
	m.halved = 0 // hand-offs of other nodes may follow
	m.newReason()
	if m.state == open && !m.votes.Asked(node) && now.Sub(m.sent) < m.Window/2 {
		m.ask(One(node))
		return m.out
	}
	m.handed(node)
	return m.out
}

// handed begins a round because node has reserved the name. The round asks the nodes that may have reserved or granted
// the name.
func (m *Machine) handed(node int) {
	m.claimed = m.claimed.With(node)
	m.draw(round{to: m.mine(), wake: true})
}
