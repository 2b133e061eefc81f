package fanout

import (
	"context"
	"slices"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// seldom is the number of messages that must have come alone before a caller carries the next message. Without this
// limit, the first caller of a crowd would leave with only its own message each time the node is idle. A crowd needs
// full pipelines.
const seldom = 4

// carrier is a caller that carries its own messages to a node: see [Fanout.Carry]. The sender's mutex guards the field
// to. While to is nil and the carrier's pipeline is under way, the other fields belong to the caller's goroutine.
type carrier struct {
	to       Receiver        // the receiver of the messages that a caller is about to carry; nil: none
	away     Receiver        // the receiver of the messages under way; nil: none. The sender's mutex guards it
	cancel   func()          // cuts off that call. The sender's mutex guards it
	ctx      context.Context // the context of the caller
	stop     func() bool     // ends the watch of ctx; nil: ctx never ends
	batch    []*Message
	again    []*Message
	pipeline pipeline
}

// Carry runs send, which may lock a mutex. Then it may carry the messages that send gave to the node, on the caller's
// goroutine. This saves two switches of goroutines, which are a third of a lone caller's time. Carry does so only under
// these conditions: there is one node, the node votes, no other message waits or is under way, and the last messages
// came alone too. In all other cases the workers carry the messages.
//
// Carry carries only messages with the receiver to. It returns when the messages have their answers, or when ctx ends.
// The end of ctx cuts off the call, and the answers say so. A worker then repeats a release or quit at once. The caller
// must hold no mutex that the delivery of an answer needs.
//
// With several nodes the workers always carry the messages, because one goroutine would ask the nodes one after the
// other.
func (f *Fanout) Carry(ctx context.Context, to Receiver, send func()) {
	if s := f.senders[0]; len(f.senders) == 1 && ctx.Err() == nil && s.reserve(to) {
		defer s.carry(ctx)
	}
	send()
}

// EndWaits cuts off the calls of callers that carry a question for a lock. Releases and renewals continue. The client
// calls EndWaits when it closes.
func (f *Fanout) EndWaits() { f.end() }

// Interrupt cuts off the call that a caller carries for the receiver to. The caller then returns from Carry. It does
// nothing if there is no such call. The receiver calls it when another answer has decided what the caller waits for.
func (f *Fanout) Interrupt(to Receiver) {
	if len(f.senders) > 1 {
		return
	}
	s := f.senders[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.carrier.away == to {
		s.carrier.cancel()
	}
}

// reserve keeps workers from messages to the receiver to, because the caller will carry them. It reports false if the
// node does not vote or is not idle.
func (s *sender) reserve(to Receiver) bool {
	if s.alone.Load() < seldom { // this check needs no mutex, so Carry costs a crowd nothing
		return false
	}
	if step, due := s.voter.next(); step != quorum.Send || due {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.carrier.to != nil || s.away > 0 || s.held > 0 || len(s.queue) > 0 || s.closed {
		return false
	}
	s.carrier.to = to
	s.fan.wait.Add(1)
	return true
}

// reserved reports whether a caller will carry all messages in the queue. If the queue contains any other message, a
// worker takes all messages. The caller holds s.mu.
func (s *sender) reserved() bool {
	to := s.carrier.to
	return to != nil && !slices.ContainsFunc(s.queue, func(m *Message) bool { return m.To != to })
}

// carry ends a reservation and sends the reserved messages. If the node is no longer idle, it leaves the messages to a
// worker.
func (s *sender) carry(ctx context.Context) {
	defer s.fan.wait.Done()
	c := &s.carrier
	votes := s.voter.votes()
	s.mu.Lock()
	alone := votes && s.away == 0 && s.held == 0 && s.reserved()
	c.to = nil
	if len(s.queue) == 0 || !alone {
		wake := len(s.queue) > 0 && s.held == 0
		s.mu.Unlock()
		if wake {
			s.more.Signal()
		}
		return
	}
	c.ctx, c.batch = ctx, s.dequeue(c.batch[:0])
	s.leave(len(c.batch))
	s.mu.Unlock()

	if batch := s.weed(c.batch); len(batch) > 0 {
		c.again = s.send(c, batch, c.again[:0], &c.pipeline, true)
		if len(c.again) > 0 {
			s.voter.forgot()
			for _, m := range c.again { // a worker meets the new incarnation, which may take long
				s.put(m)
			}
		}
	}
	c.ctx, c.stop = nil, nil
	clear(c.batch)
	clear(c.again)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.away--
	if s.closed && len(s.queue) > 0 { // the workers may have ended, because they found an empty queue
		s.fan.wait.Go(s.work)
	}
}

// bound returns the context that ends a pipeline early.
func (f *Fanout) bound(c *carrier, batch []*Message) context.Context {
	if c != nil && !passes(batch[0]) {
		return f.waits
	}
	return f.ctx
}

// watch calls cancel if the caller's context ends, or at Interrupt. A nil carrier has no caller.
func (c *carrier) watch(s *sender, to Receiver, cancel context.CancelFunc) {
	if c == nil {
		return
	}
	if c.ctx.Done() != nil {
		c.stop = context.AfterFunc(c.ctx, cancel)
	}
	s.mu.Lock()
	c.away, c.cancel = to, cancel
	s.mu.Unlock()
}

// cut ends the watch. It reports whether the caller, Interrupt or EndWaits ended ctx, the context of the call.
func (c *carrier) cut(s *sender, ctx context.Context) bool {
	if c == nil {
		return false
	}
	s.mu.Lock()
	c.away, c.cancel = nil, nil
	s.mu.Unlock()
	return c.stop != nil && !c.stop() || ctx.Err() == context.Canceled
}

// cutOff answers a message whose call its caller cut off. A call that was cut off says nothing about the node. But a
// hung node must not look healthy because all its callers are impatient. So cutOff has the node asked whether it still
// votes, and the next callers leave their messages to the workers. Calls continue during that question, so an impatient
// caller costs no other lease.
func (s *sender) cutOff(m *Message, a nodescript.Answer) {
	if !node.Unsent(a.Err) {
		s.alone.Store(0)
		s.fan.wait.Go(func() { s.voter.askVote() })
	}
	m.answer(s.index, a)
	if m.Persist != 0 {
		s.put(m.repeat())
	}
}
