package fanout

import (
	"context"
	"slices"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// seldom is the number of messages that must have come alone before a caller carries the next message itself. Many
// busy callers need full pipelines with many messages. Without this limit, the first of them would leave with one
// message whenever the node is idle for a moment.
const seldom = 4

// carrier contains the state of the caller that carries its own messages to a node: see [Fanout.Carry]. The sender's
// mutex guards to, away and cancel. The other fields belong to the caller's goroutine while its pipeline is under way.
type carrier struct {
	to       Receiver        // the receiver whose messages a caller will carry; nil: no caller has reserved the node
	away     Receiver        // the receiver of the messages that are under way; nil: none
	cancel   func()          // ends the call that is under way
	ctx      context.Context // the context of the caller
	stop     func() bool     // stops the watch of ctx; nil: ctx never ends
	batch    []*Message
	again    []*Message
	pipeline pipeline
}

// Carry runs send, which puts messages into the queues. Then the caller's own goroutine may carry these messages to
// the node, instead of a worker. This saves two switches between goroutines, which are a third of the time of a single
// caller. Carry does this only if there is one node, the node votes, no other message waits or is under way, and the
// last messages came alone, too. Otherwise the workers carry the messages.
//
// Carry carries only messages whose receiver is the parameter to. It returns when these messages have their answers or
// when ctx ends. The end of ctx ends the call, and the answers then say so. If the message was a release or a quit, a
// worker repeats it at once. send may lock a mutex. After send, the caller must hold no mutex that the receiver needs
// for an answer.
//
// With several nodes the workers always carry the messages. A single goroutine would have to ask one node after the
// other.
func (f *Fanout) Carry(ctx context.Context, to Receiver, send func()) {
	if s := f.senders[0]; len(f.senders) == 1 && ctx.Err() == nil && s.reserve(to) {
		defer s.carry(ctx)
	}
	send()
}

// EndWaits ends the calls in which callers carry questions for locks. Releases and renewals continue. The client calls
// EndWaits when it closes.
func (f *Fanout) EndWaits() { f.end() }

// Interrupt ends the call that a caller carries for a receiver, and the caller returns from Carry. The receiver calls
// Interrupt when another event has decided what the caller waits for. If there is no such call, Interrupt does
// nothing.
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

// reserve lets a caller carry the next messages for a receiver, and makes the workers leave them in the queue. It
// returns false if the node is not idle. Then the workers carry the messages.
func (s *sender) reserve(to Receiver) bool {
	if s.alone.Load() < seldom { // this check needs no mutex, so it costs many busy callers nothing
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

// reserved reports whether a caller will carry all messages in the queue. If the queue contains a message for another
// receiver, a worker takes all messages. The caller holds s.mu.
func (s *sender) reserved() bool {
	to := s.carrier.to
	return to != nil && !slices.ContainsFunc(s.queue, func(m *Message) bool { return m.To != to })
}

// carry ends a reservation and sends the reserved messages. If the node does not vote or is no longer idle, a worker
// sends them.
func (s *sender) carry(ctx context.Context) {
	defer s.fan.wait.Done()
	c := &s.carrier
	now := s.fan.Now()
	known := s.voter.view(now)
	s.mu.Lock()
	alone := known.votes && s.away == 0 && s.held == 0 && s.reserved()
	c.to = nil
	if len(s.queue) == 0 || !alone {
		wake := len(s.queue) > 0 && s.held == 0
		s.oldest = now // put does not set it while a caller has reserved the node
		s.mu.Unlock()
		if wake {
			s.more.Signal()
		}
		return
	}
	c.ctx, c.batch = ctx, s.dequeue(c.batch[:0])
	s.leave(len(c.batch), now)
	s.mu.Unlock()

	if batch := s.removeExpired(c.batch, now); len(batch) > 0 {
		c.again = s.send(c, batch, c.again[:0], &c.pipeline, known)
		if len(c.again) > 0 {
			s.voter.forgot()
			for _, m := range c.again { // a worker greets the new incarnation, which may take longer than the caller wants to wait
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
	if s.closed && len(s.queue) > 0 { // the workers may have ended when they found an empty queue
		s.fan.wait.Go(s.work)
	}
}

// bound returns the context of a pipeline. The end of that context ends the call.
func (f *Fanout) bound(c *carrier, first *Message) context.Context {
	if c != nil && !givesBack(first) {
		return f.waits
	}
	return f.ctx
}

// watch calls cancel when the caller's context ends or Interrupt is called. A nil carrier is a no-op, because a worker
// has no caller.
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

// cut ends the watch. It reports whether the end of the caller's context, Interrupt or EndWaits has ended ctx, the
// context of the call.
func (c *carrier) cut(s *sender, ctx context.Context) bool {
	if c == nil {
		return false
	}
	s.mu.Lock()
	c.away, c.cancel = nil, nil
	s.mu.Unlock()
	return c.stop != nil && !c.stop() || ctx.Err() == context.Canceled
}

// cutOff answers a message whose caller ended the call early. Such an end does not show whether the node is healthy.
// But if the node hangs and all callers are impatient, nobody would notice that it hangs. So cutOff asks the node
// whether it still votes, and the workers carry the next messages. Calls continue during that question. So an
// impatient caller does not delay the renewals of other leases.
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
