package bid

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Config contains the values that do not change during a bid.
type Config struct {
	N      int           // the number of nodes
	Window time.Duration // the window of the node set
	MaxTTL time.Duration // the longest TTL of the node set
	Owner  string
	TTL    time.Duration
	Ticket int64 // 0: the bid joins no queue
	Slots  int16 // the number of slots of a semaphore; 0: the bid is for a lock
	First  int16 // the slot that the bid asks for first
}

// state is the state of a bid.
type state uint8

const (
	open   state = iota // the current round is not decided
	won                 // a majority granted the current stamp
	failed              // the current stamp has no majority
	idle                // failed, and Next has told the waiter
	over                // the bid has ended
)

// Machine is the state of one bid: one attempt of one owner to get a name. A bid has one or more rounds, each with one
// stamp. Usually a round asks all nodes. After a hand-off, a round asks only the nodes that may have reserved or
// granted the name.
//
// A method that returns actions is an event. The caller must do these actions in their order before it calls the next
// event. That event overwrites the slice. A Machine is not safe for concurrent use, and must not be copied.
type Machine struct {
	Config
	state    state
	pauses   int32 // the number of pauses so far between questions to all nodes
	votes    quorum.Attempt
	tag      int   // the tag of the current round
	stamp    int64 // the stamp of the current round, and the highest stamp sent under Owner; 0: no round has begun
	sent     clock.Instant
	claimed  Nodes         // the nodes that reserved the name for Owner and were not asked since then
	part     Nodes         // the nodes that granted the name, and to which the bid did not give the grant back
	inQueues Nodes         // the nodes that have, or may have, the bid in their queues
	halved   clock.Instant // the start of a partial grant that lasts longer than one round; 0: there is none
	spare    spare         // the nodes that rounds with all nodes leave out for a while
	again    again         // the nodes that were asked lately because their subscription works again
	whole    bool          // the current round asks all nodes except those in spare
	taken    bool          // the caller has the lease, so late grants belong to it and need no release
	ended    bool          // the lease has ended
	waited   bool          // a node has reserved the name for Owner
	err      error         // the reason why no stamp could be drawn
	from     Passed        // the lease that another owner passes to this bid; the zero value: none
	passes   int           // the number of passes in a row that bring this lease
	next     round         // the round whose stamp is being drawn
	slots    *slots        // nil: the bid is for a lock

	out  []Action
	room [2]Action // memory for out, so that most events allocate nothing
}

// again is the set of nodes that a bid has asked lately because their subscriptions work again.
type again struct {
	nodes Nodes
	since clock.Instant // the set is emptied one second after this instant
}

// New returns a bid that has not asked any node.
func New(c Config) Machine {
	m := Machine{Config: c, votes: quorum.NewAttempt(c.N)}
	if c.Slots > 0 {
		m.slots = newSlots(c.N, int(c.First))
	}
	return m
}

// Asking reports whether the current round is open, so that missing answers may still decide it.
func (m *Machine) Asking() bool { return m.state == open && m.stamp != 0 }

// Undecided reports whether a round with all nodes is open. Each node then sends an answer or times out, so such a
// round is always decided.
func (m *Machine) Undecided() bool { return m.Asking() && m.whole }

// Handing reports whether a round is open that asks only nodes with hand-offs. Such a round may stay open until more
// hand-offs come.
func (m *Machine) Handing() bool { return m.Asking() && !m.whole }

// Over reports whether the bid has ended.
func (m *Machine) Over() bool { return m.state == over }

// Won reports whether the bid is won, and the caller has not taken the lease yet.
func (m *Machine) Won() bool { return m.state == won }

// Got reports whether the bid has the lease or had it.
func (m *Machine) Got() bool { return m.taken }

// Stamp returns the highest stamp of the bid, or 0 if no round began.
func (m *Machine) Stamp() int64 { return m.stamp }

// Part returns the nodes whose grants the bid has and did not give back.
func (m *Machine) Part() Nodes { return m.part }

// granting returns the nodes that have, or may have, a claim or a grant for this owner.
func (m *Machine) granting() Nodes { return m.claimed | m.which(m.votes.Kept) }

// which returns the set of nodes for which the function is returns true.
func (m *Machine) which(is func(node int) bool) (n Nodes) {
	for i := range m.N {
		if is(i) {
			n = n.With(i)
		}
	}
	return n
}

// become sets the state and wakes the waiter.
func (m *Machine) become(s state) {
	m.state = s
	m.emit(Action{Do: Wake})
}

// rest emits Rest if the round is decided and every node has answered.
func (m *Machine) rest() {
	if m.state == open {
		return
	}
	for i := range m.N {
		if m.votes.Pending(i) {
			return
		}
	}
	m.emit(Action{Do: Rest})
}

// before reports whether owner came before this bid. For equal tickets it compares the owners, as the nodes' queues
// do. Two owners of one client with the same ticket belong to the same wait, because all bids of a wait have the same
// ticket. Then before returns false.
func (m *Machine) before(owner string) bool {
	ticket, ok := nodescript.Ticket(owner)
	if ok && ticket == m.Ticket {
		return owner < m.Owner && nodescript.ClientOf(owner) != nodescript.ClientOf(m.Owner)
	}
	return !ok || ticket < m.Ticket
}
