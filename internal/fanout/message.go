package fanout

import (
	"sync/atomic"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// Receiver takes the answers to a message: exactly one per node it was sent to, on
// any goroutine, in any order. It must not block.
type Receiver interface {
	Answered(node, tag int, a nodescript.Answer)
}

// Message is one operation for all nodes. It is not changed once sent.
type Message struct {
	Call nodescript.Call
	To   Receiver // nil: nobody wants to know
	Tag  int      // given back with each answer

	// SendBy is when the message is not worth sending any more: its stamp has left the
	// window, or its sender has stopped waiting. 0: always.
	SendBy clock.Instant

	// Persist makes what gives back, and failed, be sent again until then, when the lease
	// or the place in line is over on the nodes by itself. 0: sent once.
	Persist clock.Instant

	// Again takes the answers to what is sent again, one for each time: To has had its own. nil: nobody
	// wants to know.
	Again Receiver

	hail    bool // only greet and admit; Call is empty
	dropped atomic.Bool
}

// Drop keeps the message from nodes it was not sent to yet; they are answered for as
// not reached.
func (m *Message) Drop() { m.dropped.Store(true) }

func (m *Message) answer(node int, a nodescript.Answer) {
	if m.To != nil {
		m.To.Answered(node, m.Tag, a)
	}
}
