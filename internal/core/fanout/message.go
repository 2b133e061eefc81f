package fanout

import (
	"sync"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Receiver receives the answers to a message: exactly one from each node to which the message was given. Answers may
// come on any goroutine and in any order. A Receiver must not block.
type Receiver interface {
	Answered(node, tag int, a nodescript.Answer)
}

// Patient is a Receiver of messages with Until that learns that a node did not answer within the node timeout. Overdue
// may be called once for each node, and must not block.
type Patient interface{ Overdue() }

// Message is one operation for one or more nodes. It must not change after it was sent.
type Message struct {
	Call nodescript.Call

	// Draw makes the field Call at the moment when the first node gets the message. So the stamp of the call is new,
	// even if the message has waited in the client. It returns false if the message is not needed any more. All nodes
	// get the same call. It may set Until. nil: Call is set.
	Draw func() (nodescript.Call, bool)

	To  Receiver // nil: the answers are not needed
	Tag int      // each answer comes with this number

	// SendBy is the last instant at which it is useful to send the message. A later stamp is outside the window, or
	// its caller has stopped waiting. 0: no limit.
	SendBy clock.Instant

	// Until is the instant until which the client waits for an answer, even if the node is slower than the node
	// timeout. After the node timeout the node counts as sick for other messages. 0: the client waits for the node
	// timeout.
	Until clock.Instant

	// Persist is the instant until which a release or quit that failed is repeated. At that instant the lease, or the
	// place in the nodes' queues, ends on the nodes by itself. 0: the message is not repeated.
	Persist clock.Instant

	// Again receives the answers to repeated messages, one for each repetition. The field To does not: it gets exactly
	// one answer per node, which is the failure of the first try. nil: nobody needs these answers.
	Again Receiver

	greetOnly  bool  // only greet and admit the node; the field Call is empty
	begun      bool  // a script stopped in the middle of it, because its hash slot was being moved
	admissions uint8 // how often it waited for the admission of its hash slot; the sender that has it guards it
	dropped    atomic.Bool
	draw       sync.Once
	made       clock.Instant // when Draw made the call
	moving     clock.Instant // when its hash slot was first found on another shard; the sender that has it guards it
}

// drawn makes the call, if no other node got the message before. It returns false if the message is dropped.
func (m *Message) drawn(f *Fanout) bool {
	if m.Draw != nil {
		m.draw.Do(func() {
			m.made = f.Now()
			c, ok := m.Draw()
			if m.Call = c; !ok {
				m.Drop()
			}
		})
	}
	return !m.dropped.Load()
}

// Drop cancels the message for all nodes to which it was not sent yet. For each of these nodes the receiver gets the
// answer that the message was not sent.
func (m *Message) Drop() { m.dropped.Store(true) }

// repeat returns the message that replaces m after m failed. The answers go to Again: the receiver of m already got an
// answer, which is the failure.
func (m *Message) repeat() *Message {
	return &Message{Call: m.Call, Persist: m.Persist, To: m.Again, Again: m.Again, Tag: m.Tag}
}

// answer delivers an answer. A round would wait for ever after an answer without a verdict.
func (m *Message) answer(node int, a nodescript.Answer) {
	if a.Verdict == nodescript.Unanswered {
		a.Verdict = nodescript.NotAdmitted
	}
	if m.To != nil {
		m.To.Answered(node, m.Tag, a)
	}
}
