package bid

import "github.com/holdfast-go/holdfast/internal/core/clock"

// Do is the kind of an action.
type Do uint8

// These are the kinds of actions. The first group asks for the name, the second group gives something back.
const (
	Draw     Do = iota // draw a stamp and give it to Stamped, before any other event; always the last action
	Acquire            // ask the nodes To for the name, with Stamp, which was drawn at At
	Queue              // Acquire; a node whose hand-off would be heard also gets the ticket
	Pass               // Acquire, for a lease of Owner that is passed to this bid
	Withdraw           // keep the current question from the nodes that did not get it yet
	Keep               // from now on, Withdraw no longer applies to the current question
	Raise              // a node has seen the token Stamp: draw higher stamps

	Abort   // give back what Owner got by stamps up to Stamp: none of them became a lease
	Release // give back what Owner got by stamps up to Stamp
	Quit    // remove Owner from the queues

	Wake // wake the waiter
	Rest // the round is decided, and every answer is there: nothing of it is needed any more
)

// Action is one thing that a bid has the caller do.
type Action struct {
	Do    Do
	Tag   int32 // Acquire, Queue, Pass: the tag of the round, which comes back with each answer
	To    Nodes
	Owner string
	Stamp int64

	// At is the instant of the stamp for a question. For the second group it is the instant until which the request is
	// repeated while it fails.
	At clock.Instant
}

// emit adds an action to the actions of the current event.
func (m *Machine) emit(a Action) { m.out = append(m.out, a) }

// start begins an event. The actions of the last event are done.
func (m *Machine) start() { m.out = m.room[:0] }
