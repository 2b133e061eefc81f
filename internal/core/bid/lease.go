package bid

import (
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Lease is a lease that a bid has won.
type Lease struct {
	Owner    string
	Token    int64         // the fencing token, in µs of stamp time
	Sent     clock.Instant // the instant at which Token was drawn; the validity counts from here
	Deadline clock.Instant
	Others   bool  // a node had another waiter in its queue
	By       Nodes // the nodes that granted the lease before it was won
	Passes   int   // the number of passes in a row since the nodes handed the name to this process
	Waited   bool  // the name came by a hand-off
	Slot     int   // the slot of a semaphore
	Missing  bool  // answers are missing: the bid goes on to take them
}

// take ends a bid that was won and returns its lease. It returns false if the bid is not won or the lease's deadline
// has passed.
func (m *Machine) take(now clock.Instant) (Lease, bool) {
	deadline := quorum.Deadline(m.sent, m.TTL, m.Window)
	if m.state != won || now >= deadline {
		return Lease{}, false
	}
	m.state, m.taken = over, true
	l := Lease{Slot: m.Slot(), Owner: m.Owner, Token: m.stamp, Sent: m.sent, Deadline: deadline, Others: m.votes.Waiting(), Waited: m.waited, Passes: m.passes}
	for i := range m.N {
		switch {
		case m.votes.Pending(i):
			l.Missing = true
		case m.votes.Granted(i):
			l.By = l.By.With(i)
			m.leaveStray(i, now)
		default:
			if m.stands.Has(i) {
				m.quit(i, now)
			}
			m.drop(One(i))
		}
	}
	return l, true
}

// LeaseEnded notes that the lease has ended. The caller calls it before it releases the lease. A question of the bid
// that is still under way may reach a node after the release. The bid then leaves the queue that the question has joined,
// and declines a claim.
func (m *Machine) LeaseEnded() { m.ended = true }

// End ends the bid. It releases the grants of the nodes, and also the grants that they make when a late command
// arrives. If the release overtakes its acquire, the acquire finds a tombstone. End does nothing if the bid has ended
// before.
//
// If withdraw is true, End withdraws the current question from nodes that did not get it yet. Otherwise those nodes get
// it, and their answers show whether another owner has the name.
func (m *Machine) End(now clock.Instant, withdraw bool) []Action {
	m.start()
	if m.Over() {
		return nil
	}
	m.state = over
	if m.stamp == 0 {
		return nil
	}
	if withdraw {
		m.emit(Action{Do: Withdraw})
	}
	m.drop(Every)
	to := m.which(m.votes.Touched)
	if m.Ticket != 0 {
		to = Every // the bid may be in every queue
	}
	m.release(to, now)
	return m.out
}

// release gives back the grants of stamps that never won. The caller repeats the request until those grants have
// expired on the nodes. If the bid has become a lease, the release ends the lease too.
//
// If the bid has ended, the release also removes it from the queues. The caller repeats such a release for as long as a
// node keeps a queue. Otherwise a waiter that was cut off for longer than its TTL would come back with two places in a
// queue. A node would then reserve the name for each bid that the outage ended, for a second each.
func (m *Machine) release(to Nodes, now clock.Instant) {
	do := Abort
	if m.taken {
		do = Release
	}
	until := m.sent.Add(m.TTL + m.Window)
	queued := Nodes(0)
	if m.state == over {
		queued = to & m.stands
	}
	if to &^= queued; to != 0 {
		m.emit(Action{Do: do, To: to, Owner: m.Owner, Slot: m.slotNow(), Stamp: m.stamp, At: until})
	}
	if queued != 0 {
		m.emit(Action{Do: do, To: queued, Owner: m.Owner, Slot: m.slotNow(), Stamp: m.stamp, At: max(until, now.Add(nodescript.QueueKept))})
	}
}

// quit removes the owner from the queue of a node that did not grant. The caller repeats the request for as long as a
// node keeps a waiter that asks nothing. Otherwise the node would reserve the name for this owner long after the end of
// the lease.
func (m *Machine) quit(node int, now clock.Instant) {
	m.emit(Action{Do: Quit, To: One(node), Owner: m.Owner, At: now.Add(nodescript.QueueKept)})
}
