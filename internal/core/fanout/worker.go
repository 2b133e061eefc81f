package fanout

import (
	"context"
	"slices"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// largestBatch is the largest number of messages in a pipeline. It limits the time for which this client keeps a
// server busy.
const largestBatch = 256

// work runs one worker. It ends when the sender is closed and its queue is empty.
func (s *sender) work() { s.serve(false) }

// serve sends queued messages in batches. A worker ends when the sender is closed and the queue is empty, or when
// another one has taken its place. A spare ends when the queue is empty, or when a batch had no answer within the node
// timeout.
func (s *sender) serve(spare bool) {
	var batch, again []*Message
	p := pipeline{spare: spare, shard: s.slots != nil}
	for first := true; ; first = false {
		var now clock.Instant
		if batch, now = s.take(batch[:0], !first, spare); len(batch) == 0 {
			return
		}
		if batch = s.removeExpired(batch, now); len(batch) == 0 {
			continue
		}
		known := s.voter.view(now)
		if !known.votes && !(known.releases && onlyGiveBack(batch)) {
			known = s.admitted()
		}
		if known.votes {
			batch = s.draw(batch)
		}
		again = s.send(nil, batch, again[:0], &p, known)
		if len(again) > 0 {
			// The server restarted, or somebody flushed it. The worker greets the new incarnation, and sends the
			// messages again that the node did not run.
			s.voter.forgot()
			known = s.admitted()
			if again = s.removeExpired(again, s.fan.Now()); known.votes {
				again = s.draw(again)
			}
			if len(again) > 0 {
				for _, m := range s.send(nil, again, nil, &p, known) {
					s.answer(m, nodescript.Answer{Verdict: nodescript.NotAdmitted})
				}
			}
		}
		if p.replaced {
			return
		}
		clear(batch)
		clear(again[:cap(again)])
	}
}

// admitted greets the node and asks it for admission, if that is necessary, and returns its standing after that.
func (s *sender) admitted() view {
	votes := s.voter.admitted()
	s.fan.Woken()                      // a greeting waits
	known := s.voter.view(s.fan.Now()) // another goroutine may have greeted the node since then
	known.votes = (votes || known.votes) && !known.elsewhere
	return known
}

// take waits for messages, and returns up to largestBatch of them, with the present instant. It returns none when the
// sender is closed. back says that the worker has just sent a batch. For a spare, take does not wait.
func (s *sender) take(batch []*Message, back, spare bool) ([]*Message, clock.Instant) {
	s.fan.passOn(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	if back && !spare {
		s.away--
	}
	for len(s.queue) == 0 || s.held > 0 {
		if spare {
			s.spares--
			return nil, 0
		}
		if s.closed && s.held == 0 {
			return nil, 0
		}
		s.idle++
		s.more.Wait()
		s.idle--
		s.mu.Unlock()
		s.fan.passOn(s)
		s.fan.Woken()
		s.mu.Lock()
	}
	batch = s.dequeue(batch)
	now := s.fan.Now()
	if spare {
		s.worked = now
	} else {
		s.leave(len(batch), now)
	}
	if len(s.queue) > 0 && s.held == 0 && s.wakes() { // more than one pipeline takes
		s.more.Signal()
	}
	s.considerSpare()
	return batch, now
}

// dequeue moves up to largestBatch messages from the queue to batch. The caller holds s.mu.
func (s *sender) dequeue(batch []*Message) []*Message {
	n := min(len(s.queue), largestBatch)
	batch = append(batch, s.queue[:n]...)
	rest := copy(s.queue, s.queue[n:])
	clear(s.queue[rest:])
	s.queue = s.queue[:rest]
	return batch
}

// leave notes that another pipeline with n messages is being sent. The caller holds s.mu.
func (s *sender) leave(n int, now clock.Instant) {
	if n > 1 {
		s.alone.Store(0)
	} else if s.alone.Load() < seldom {
		s.alone.Add(1)
	}
	s.worked = now
	if s.away++; s.away == 1 {
		s.since = s.worked
	}
}

// removeExpired answers and removes the messages that are not worth sending any more. So callers do not wait long for a
// node that hangs.
func (s *sender) removeExpired(batch []*Message, now clock.Instant) []*Message {
	kept := batch[:0]
	for _, m := range batch {
		switch {
		case m.dropped.Load():
			m.answer(s.index, failed(node.NotSent(context.Canceled)))
		case m.SendBy != 0 && now > m.SendBy:
			m.answer(s.index, failed(node.NotSent(context.DeadlineExceeded)))
		default:
			kept = append(kept, m)
		}
	}
	return kept
}

// draw makes the calls that are made only when they are sent. It removes the messages that are not needed any more, and
// those that were made before the client met the node's present server: see [Fanout.meet]. A call that came with its hash
// slot from another shard stays: the admission of the slot decides about it.
func (s *sender) draw(batch []*Message) []*Message {
	since := clock.Instant(s.voter.since.Load())
	kept := batch[:0]
	for _, m := range batch {
		if m.drawn(s.fan) && (m.Draw == nil || m.made >= since || m.moving != 0) {
			kept = append(kept, m)
		} else {
			m.answer(s.index, failed(node.NotSent(context.Canceled)))
		}
	}
	return kept
}

// send sends a batch in one pipeline and delivers the answers. It appends to again the messages that the node did not
// run because it does not have the scripts or the guard. c is the caller that carries the batch, or nil for a worker.
func (s *sender) send(c *carrier, batch, again []*Message, p *pipeline, known view) []*Message {
	defer p.clear()
	for _, m := range batch {
		switch {
		case m.greetOnly && known.votes:
			m.answer(s.index, nodescript.Answer{Verdict: nodescript.Done})
		case m.greetOnly, !known.votes && !(known.releases && givesBack(m)):
			if m.greetOnly || s.slots == nil || node.Code(known.refusal.Err) != node.ReadOnly || !s.slots.leave(m, known.refusal) {
				s.answer(m, known.refusal)
			}
		case s.slots != nil && s.slots.refuses(m, known.scripts.Run):
		default:
			p.add(m)
		}
	}
	if p.used == 0 {
		return again
	}
	l := s.limit(c, p, batch[0])
	c.watch(s, batch[0].To, l.cancel)
	replies := s.node.EvalSHA(l.ctx, p.made(known.scripts))
	received := s.fan.Now()
	took := received.Sub(l.sent)
	if took > slow {
		s.fan.Suspect()
	}
	cut := c.cut(s, l.ctx)
	gaveUp := l.ctx.Err() != nil
	overdue := s.end(l)
	p.replaced = l.replaced // nobody changes it after end
	if len(replies) > 0 && !changed(replies[0].Err) {
		s.mu.Lock()
		s.trip, s.answered = took, received
		if l.renews {
			s.replaceHanging(l.sent)
		}
		s.mu.Unlock()
	}
	p.answered(replies, func(m *Message, a nodescript.Answer) {
		switch {
		case overdue && m.Until == 0: // it has its answer
			return
		case a.Verdict == nodescript.NotAdmitted && s.slots != nil:
			p.unadmitted = append(p.unadmitted, m)
			return
		case s.slots != nil && s.slots.retry(m, a):
			return
		case m.begun && a.Verdict == nodescript.NotMine && a.Owner == "": // it was given back before the script stopped
			a.Verdict = nodescript.Done
		case a.Verdict == nodescript.NotAdmitted || node.Code(a.Err) == node.NoScript:
			again = append(again, m)
			return
		case a.Verdict == nodescript.OffClock:
			a.Took = took
			s.fan.read(quorum.Reading{Node: s.index, Time: a.Time, Sent: l.sent, Received: received})
			s.fan.offClock(s.index)
		case cut && changed(a.Err) && a.Cause != nodescript.Unreplicated:
			s.cutOff(m, a)
			return
		case a.Cause == nodescript.Unreplicated: // the server is well
		case overdue && gaveUp && changed(a.Err): // it was noted at the node timeout
		case changed(a.Err):
			s.voter.broke(a.Err)
		}
		s.voter.heed(a)
		s.answer(m, a)
	})
	if len(p.unadmitted) > 0 {
		s.slots.admit(p.unadmitted)
	}
	return again
}

// changed reports whether another server may be behind the address after the error err. The errors are: the connection
// broke, no server listens, no answer came in time, or the server is a replica now. The client then greets the node and
// asks for admission again. This also matters for a server that was a replica for a while: it may have the memory of
// another server, although its run id and its scripts are the same. And it saves calls to a dead node: the client
// connects only for a greeting now and then. A call that this process did not send in time says nothing about the
// server.
func changed(err error) bool {
	switch node.Code(err) {
	case "":
		return err != nil && !node.Late(err)
	case node.ReadOnly, node.Loading, node.MasterDown:
		return true
	}
	return false
}

// onlyGiveBack reports whether no message of the batch needs the node's vote. The worker then does not greet the node
// first, because a greeting may take the whole timeout or longer.
func onlyGiveBack(batch []*Message) bool {
	return !slices.ContainsFunc(batch, func(m *Message) bool { return !givesBack(m) })
}

func givesBack(m *Message) bool { return m.Draw == nil && m.Call.Op.GivesBack() }

// answer delivers an answer to a message. If the message is a release or quit that failed, answer parks it.
func (s *sender) answer(m *Message, a nodescript.Answer) {
	m.answer(s.index, a)
	if m.Persist != 0 && undelivered(a) && s.fan.Now() < m.Persist {
		s.parked.add(s, m)
	}
}

func undelivered(a nodescript.Answer) bool {
	switch a.Verdict {
	case nodescript.Done, nodescript.NotMine, nodescript.Lost, nodescript.Corrupt:
		return false
	}
	return true
}

func failed(err error) nodescript.Answer {
	return nodescript.Answer{Verdict: nodescript.Failed, Err: err}
}
