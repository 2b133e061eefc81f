package fanout

import (
	"sync/atomic"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Receiver takes the answers to a message: exactly one per node that the message went to, on any goroutine and in any
// order. It must not block.
type Receiver interface {
	Answered(node, tag int, a nodescript.Answer)
}

// Message is one operation for all nodes. Nobody changes it after it was sent.
type Message struct {
	Call nodescript.Call
	To   Receiver // nil: nobody needs the answers
	Tag  int      // returned with each answer

	// SendBy is the last instant at which it makes sense to send the message. Later its stamp has left the window, or
	// its sender has stopped waiting. 0: no limit.
	SendBy clock.Instant

	// Persist makes a release or quit that failed be sent again until this instant. By then the lease or the place in
	// the queue is over on the nodes anyway. 0: the message is sent once.
	Persist clock.Instant

	// Again takes the answers to repeated sends, one for each time: To has had its own answer. nil: nobody needs them.
	Again Receiver

	greetOnly bool // greet and admit only; Call is empty
	dropped   atomic.Bool
}

// Drop keeps the message from nodes that it was not sent to yet. Its receiver gets an answer for each of them, as for a
// node that was not reached.
func (m *Message) Drop() { m.dropped.Store(true) }

// repeat returns the message to send after m failed. To has had its answer.
func (m *Message) repeat() *Message {
	return &Message{Call: m.Call, Persist: m.Persist, To: m.Again, Again: m.Again, Tag: m.Tag}
}

func (m *Message) answer(node int, a nodescript.Answer) {
	if m.To != nil {
		m.To.Answered(node, m.Tag, a)
	}
}
