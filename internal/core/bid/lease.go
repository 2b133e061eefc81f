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
	Sent     clock.Instant // the instant at which Token was drawn; the validity starts here
	Deadline clock.Instant
	Others   bool  // another waiter was in the queue of a node
	By       Nodes // the nodes that granted the lease before it was won
	Passes   int   // the number of passes in a row since the nodes granted the name to this process
	Waited   bool  // a hand-off brought the name
	Slot     int   // the slot of a semaphore
	Missing  bool  // some answers are missing, so the caller must still pass them to Answered
}

// take ends a bid that was won, and returns its lease. It returns false if the bid is not won, or if the deadline of
// the lease has passed.
func (m *Machine) take(now clock.Instant) (Lease, bool) {
	deadline := quorum.Deadline(m.sent, m.TTL, m.Window)
	if m.state != won || now >= deadline {
		return Lease{}, false
	}
	m.state, m.taken = over, true
	l := Lease{Slot: m.Slot(), Owner: m.Owner, Token: m.stamp, Sent: m.sent, Deadline: deadline, Others: m.votes.Waiting(), Waited: m.waited, Passes: m.passes}
	for i := range m.N {
		granted := m.votes.Granted(i)
		if granted {
			l.By = l.By.With(i)
		}
		switch {
		case m.votes.Pending(i): // perhaps only the answer to an earlier round
			l.Missing = true
		case granted:
			m.leaveStray(i, now)
		default:
			if m.inQueues.Has(i) {
				m.quit(i, now)
			}
			m.drop(One(i))
		}
	}
	return l, true
}

// LeaseEnded notes that the lease has ended. The caller calls it before it sends the release. A question of the bid
// may still reach a node after the release and put the bid into the queue. After LeaseEnded, the bid answers that by
// leaving the queue, and by declining a claim.
func (m *Machine) LeaseEnded() { m.ended = true }

// End ends the bid. It gives back the grants of the nodes, and those that nodes make later when a delayed acquire
// arrives. If the release arrives before its acquire, it leaves a tombstone, and the acquire then grants nothing. If
// the bid has ended before, End does nothing.
//
// If withdraw is true, nodes that did not get the current question yet do not get it. If withdraw is false, they get
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

// release gives back grants of this bid, which did not become a lease. The caller repeats a failed request until the
// grants have expired on the nodes.
//
// If the bid has ended, the request also removes it from the queues. The caller then repeats a failed request for as
// long as a node keeps a queue. Without this, each outage that ends a bid would leave that bid in a queue. The waiter
// would come back with a second place, and the node would later reserve the name for each dead bid, for the time of a
// claim.
func (m *Machine) release(to Nodes, now clock.Instant) {
	until := m.sent.Add(m.TTL + m.Window)
	queued := Nodes(0)
	if m.state == over {
		queued = to & m.inQueues
	}
	if to &^= queued; to != 0 {
		m.emit(Action{Do: Abort, To: to, Owner: m.Owner, Slot: m.slotNow(), Stamp: m.stamp, At: until})
	}
	if queued != 0 {
		m.emit(Action{Do: Abort, To: queued, Owner: m.Owner, Slot: m.slotNow(), Stamp: m.stamp, At: max(until, now.Add(nodescript.QueueKept))})
	}
}

// quit removes the owner from the queue of a node that did not grant. The caller repeats a failed request for as long
// as a node keeps a silent waiter in its queue. Without this, the node would reserve the name for this owner long
// after its lease has ended.
func (m *Machine) quit(node int, now clock.Instant) {
	m.emit(Action{Do: Quit, To: One(node), Owner: m.Owner, At: now.Add(nodescript.QueueKept)})
}
