package bid

import "github.com/holdfast-go/holdfast/internal/core/clock"

// Do is the kind of an action.
type Do uint8

// These are the kinds of actions. The actions of the first group ask nodes for the name. Those of the second group
// give something back.
const (
	Draw     Do = iota // draw a stamp, and pass it to Stamped before any other event; always the last action
	Acquire            // ask the nodes in To for the name, with Stamp, which was drawn at the instant At
	Queue              // as Acquire, for a bid with a ticket. Nodes whose hand-off the client would receive put the bid into their queues.
	Pass               // the same as Acquire, for a lease that Owner passes to this bid
	Withdraw           // cancel the current question for nodes to which it was not sent yet
	Keep               // later Withdraws do not cancel the current question
	Raise              // draw stamps above Stamp from now on, because a node has seen the token Stamp

	Move    // give back the grants that Owner got for Slot with stamps up to Stamp; keep the places in the queues
	Abort   // give back the grants that Owner got with stamps up to Stamp; none of them became a lease
	Release // give back the grants that Owner got with stamps up to Stamp; one of them may be a lease
	Quit    // remove Owner from the queues

	Wake // wake the waiter
	Rest // free the messages of the round: it is decided, and all its answers have come
)

// Action is one thing that the caller must do for a bid.
type Action struct {
	Do    Do
	Slot  int16 // the slot of a semaphore
	Tag   int32 // Acquire, Queue, Pass: the number of the round; the caller returns it with each answer
	To    Nodes
	Owner string
	Stamp int64

	// For the first group, At is the instant at which Stamp was drawn. For the second group, the caller repeats a
	// failed request until At.
	At clock.Instant
}

// emit adds an action to the actions of the current event.
func (m *Machine) emit(a Action) { m.out = append(m.out, a) }

// start begins an event. It reuses the slice of actions, because the caller has done the actions of the last event.
func (m *Machine) start() { m.out = m.room[:0] }
