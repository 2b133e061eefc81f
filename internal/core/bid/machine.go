package bid

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Config contains the constants of a bid.
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
	idle                // failed, and the waiter knows of the failure
	over                // the bid has ended
)

// Machine is one attempt of one owner to get a name. It has one or more rounds of one stamp each. Usually a round goes
// to all nodes. After a hand-off a round goes only to the nodes that may have reserved or granted the name.
//
// Each method that returns actions is an event. The caller carries out the actions in their order, before the next
// event. The slice of actions is valid until the next event. A Machine is not safe for concurrent use, and must not be
// copied.
type Machine struct {
	Config
	state   state
	pauses  int32 // the number of pauses so far between questions to all nodes
	votes   quorum.Attempt
	tag     int   // the tag of the current round
	stamp   int64 // the stamp of the current round, the highest one sent under Owner; 0: no round began
	sent    clock.Instant
	claimed Nodes         // the nodes that have reserved the name for Owner and were not asked since
	part    Nodes         // the nodes that have granted the name and did not get it back
	stands  Nodes         // the nodes that have the bid in their queues, or may have it
	halved  clock.Instant // the start of a partial grant that lasts longer than a moment; 0: there is none
	spare   spare         // the nodes that the next rounds to all nodes leave out
	again   again         // the nodes that the bid asked because it hears them again
	whole   bool          // the current round asks all nodes except spare
	taken   bool          // the caller has the lease, so later grants need no release
	ended   bool          // the lease has ended
	waited  bool          // a node has reserved the name for Owner
	err     error         // the reason why no stamp could be drawn
	from    Passed        // the lease that is being passed to this bid; the zero value: none
	passes  int           // the number of passes in a row, including the one that brings this lease
	next    round         // the round whose stamp is being drawn
	slots   *slots        // nil: the bid is for a lock

	out  []Action
	room [2]Action // memory for out, so that most events allocate nothing
}

// again is the set of nodes that a bid has asked lately because the subscriptions to them work again.
type again struct {
	nodes Nodes
	since clock.Instant // the set counts for one second from this instant
}

// New returns a bid that has asked nobody yet.
func New(c Config) Machine {
	m := Machine{Config: c, votes: quorum.NewAttempt(c.N)}
	if c.Slots > 0 {
		m.slots = newSlots(c.N, int(c.First))
	}
	return m
}

// Asking reports whether the current round is open, so that missing answers may still decide it.
func (m *Machine) Asking() bool { return m.state == open && m.stamp != 0 }

// Undecided reports whether a round with all nodes is open. Such a round is always decided in the end.
func (m *Machine) Undecided() bool { return m.Asking() && m.whole }

// Handing reports whether a round is open that asks only nodes with a hand-off. Such a round may stay undecided until
// more hand-offs come.
func (m *Machine) Handing() bool { return m.Asking() && !m.whole }

// Over reports whether the bid has ended.
func (m *Machine) Over() bool { return m.state == over }

// Won reports whether the bid is won, and the caller has not taken the lease yet.
func (m *Machine) Won() bool { return m.state == won }

// Got reports whether the bid has the lease or had it.
func (m *Machine) Got() bool { return m.taken }

// Stamp returns the highest stamp of the bid, or 0 if no round began.
func (m *Machine) Stamp() int64 { return m.stamp }

// Part returns the nodes whose grants the bid has now, and has not given back.
func (m *Machine) Part() Nodes { return m.part }

// mine returns the nodes that have a claim or a grant for this owner, or may have one.
func (m *Machine) mine() Nodes { return m.claimed | m.which(m.votes.Kept) }

// which returns the nodes that the function is accepts.
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

// before reports whether owner has waited for longer than this bid. For equal tickets it compares the owners, as the
// nodes' queues do. But owners of one client with one ticket belong to one wait, because a wait keeps its ticket for
// all its bids.
func (m *Machine) before(owner string) bool {
	ticket, ok := nodescript.Ticket(owner)
	if ok && ticket == m.Ticket {
		return owner < m.Owner && nodescript.ClientOf(owner) != nodescript.ClientOf(m.Owner)
	}
	return !ok || ticket < m.Ticket
}
