package fanout

import (
	"sync/atomic"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Receiver takes the answers to a message: exactly one answer from each node that got the message. The answers come on
// any goroutine and in any order. A Receiver must not block.
type Receiver interface {
	Answered(node, tag int, a nodescript.Answer)
}

// Message is one operation for all nodes. It does not change after it was sent.
type Message struct {
	Call nodescript.Call
	To   Receiver // nil: the answers are not needed
	Tag  int      // returned with each answer

	// SendBy is the last instant at which it is useful to send the message. After it the stamp has left the window, or
	// the caller has stopped waiting. 0: no limit.
	SendBy clock.Instant

	// Persist is the instant until which a failed release or quit is sent again. At that instant the lease, or the
	// place in the nodes' queues of waiters, ends on the nodes without a message. 0: the message is sent once.
	Persist clock.Instant

	// Again takes the answers to repeated sends, one answer for each time. To does not get them, because it has had its
	// own answer. nil: the answers are not needed.
	Again Receiver

	greetOnly bool // only greet and admit the node; Call is empty
	dropped   atomic.Bool
}

// Drop stops the message from going to nodes that have not got it yet. The receiver gets an answer for each of these
// nodes, as for a node that was not reached.
func (m *Message) Drop() { m.dropped.Store(true) }

// repeat returns the message to send after m failed. It has no receiver for the first answer, because the receiver of m
// already has an answer: the failure.
func (m *Message) repeat() *Message {
	return &Message{Call: m.Call, Persist: m.Persist, To: m.Again, Again: m.Again, Tag: m.Tag}
}

func (m *Message) answer(node int, a nodescript.Answer) {
	if m.To != nil {
		m.To.Answered(node, m.Tag, a)
	}
}
