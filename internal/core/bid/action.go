package bid

import "github.com/holdfast-go/holdfast/internal/core/clock"

// Do is the kind of an action.
type Do uint8

// These are the kinds of actions. The first group asks for the name, the second group gives something back.
const (
	Draw     Do = iota // draw a stamp and give it to Stamped, before any other event; always the last action
	Acquire            // ask the nodes To for the name, with Stamp, which was drawn at At
	Queue              // as Acquire; a node whose hand-off would be heard also gets the ticket
	Pass               // as Acquire, for a lease of Owner that is passed to this bid
	Withdraw           // keep the current question from the nodes that did not get it yet
	Keep               // from now on, Withdraw does not apply to the current question
	Raise              // draw higher stamps, because a node has seen the token Stamp

	Move    // give back what Owner got of Slot by stamps up to Stamp, and keep its places in the queues
	Abort   // give back what Owner got by stamps up to Stamp: none of them became a lease
	Release // give back what Owner got by stamps up to Stamp
	Quit    // remove Owner from the queues

	Wake // wake the waiter
	Rest // the round is decided and every answer has come, so its messages can be dropped
)

// Action is one thing that the caller must do for a bid.
type Action struct {
	Do    Do
	Slot  int16 // the slot of a semaphore
	Tag   int32 // Acquire, Queue, Pass: the tag of the round, which comes back with each answer
	To    Nodes
	Owner string
	Stamp int64

	// For a question, At is the instant of the stamp. For the second group it is the instant until which the caller
	// repeats the request while it fails.
	At clock.Instant
}

// emit adds an action to the actions of the current event.
func (m *Machine) emit(a Action) { m.out = append(m.out, a) }

// start begins an event. The caller has carried out the actions of the last event.
func (m *Machine) start() { m.out = m.room[:0] }
