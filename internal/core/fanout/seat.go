package fanout

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// largestBatch limits the time for which one pipeline of ours keeps a server busy.
const largestBatch = 256

// These constants decide how many pipelines to a node are under way at the same time.
//
// A single node decides alone, so a message that waits for it waits the whole time. Three pipelines keep the node and
// the client busy at once. Of several nodes each answers while the client talks to the others, and a larger batch costs
// less per message. There a second pipeline starts only if the first has been under way for linger, which is the round
// trip of a fast network. A timer then starts it.
const (
	workersOfOne  = 3
	workersOfMany = 2
	linger        = 250 * time.Microsecond
)

// A call ages while it waits, and arrives later by half of a round trip. Both together must be less than a window. If a
// node is far away, all its pipelines may be under way for longer than a share of the window. Then another one starts
// whenever a call has waited for such a share. Round trips of two windows need as many pipelines as two windows have
// shares.
const (
	shares     = 16 // of a window
	mostSpares = 2 * shares
)

// A driver has a connection for each call: for those of spares, workers and one caller, and for four more. These are a
// greeting, a report, a reading of the clocks, and a question about the node's state.
const _ = uint(node.MaxCalls - mostSpares - workersOfOne - 1 - 4)

// seat is the fan-out's view of one node.
type seat struct {
	fan   *Fanout
	index int
	node  node.Node

	mu        sync.Mutex
	more      sync.Cond
	queue     []*Message
	held      int           // senders that will give more messages: see Together
	away      int           // pipelines of workers under way
	since     clock.Instant // instant at which the first of them left
	worked    clock.Instant // instant at which the last of them left
	oldest    clock.Instant // instant at which the queue began to fill
	trip      time.Duration // time that the node took for the last pipeline that it answered
	spares    int           // pipelines of spares under way, beside those of workers
	watch     *time.Timer   // starts a spare; nil before it is needed
	watched   bool          // watch is running
	late      *time.Timer   // wakes a worker when linger is over; nil before it is needed
	armed     bool          // late is running
	closed    bool
	alone     int     // messages in a row that came while nothing else waited or was under way
	carrier   carrier // a caller that carries its messages itself
	standing  *quorum.Standing
	trusted   bool          // the node does not tell its settings, and this was logged
	said      refused       // the last refusal that Told got; zero while the node votes
	unsettled spell         // the recent refusals because the clocks are not known
	heard     bool          // the node answered a greeting once
	greeted   clock.Instant // end of the first greeting that it answered; 0: not yet

	door     door  // held during greeting and admission
	unmet    bool  // the last greeting failed
	looking  door  // held during a look
	nextLook *look // the look that begins next; nil: none
	parked parked
}

func newSeat(f *Fanout, i int, n node.Node) *seat {
	s := &seat{fan: f, index: i, node: n, standing: quorum.NewStanding(f.config.Set), door: newDoor(), looking: newDoor()}
	s.more.L = &s.mu
	return s
}

func (s *seat) put(m *Message) {
	s.mu.Lock()
	if s.closed && s.away == 0 { // messages that answers still cause are sent
		s.mu.Unlock()
		go m.answer(s.index, failed(node.ErrClosed)) // on a goroutine of its own, because the sender may hold a lock
		return
	}
	if len(s.queue) == 0 {
		s.oldest = s.fan.Now()
	}
	if s.away > 0 || len(s.queue) > 0 {
		s.alone = 0
	}
	s.queue = append(s.queue, m)
	wake := s.held == 0 && !s.reserved() && s.wakes()
	s.lookout()
	s.mu.Unlock()
	if wake {
		s.more.Signal()
	}
}

// hold changes the number of senders that will give more messages. While it is not 0, workers leave the queue alone.
func (s *seat) hold(n int) {
	s.mu.Lock()
	s.held += n
	free, closed := s.held == 0, s.closed
	wake := free && len(s.queue) > 0 && !s.reserved() && s.wakes()
	s.lookout()
	s.mu.Unlock()
	switch {
	case free && closed:
		s.more.Broadcast()
	case wake:
		s.more.Signal()
	}
}

// wakes reports whether an idle worker must take a new message. If the pipelines under way are too young to decide
// that, a timer decides later. s.mu is held.
func (s *seat) wakes() bool {
	if s.away == 0 || len(s.fan.seats) == 1 {
		return true
	}
	if s.away == workersOfMany || s.armed {
		return false
	}
	left := linger - s.fan.Now().Sub(s.since)
	if left < 0 {
		return true
	}
	s.armed = true
	left += s.apart()
	if s.late == nil {
		s.late = time.AfterFunc(left, s.lingered)
	} else {
		s.late.Reset(left)
	}
	return false
}

// apart keeps the timers of two seats from firing in the same instant: in a simulation the runtime would choose their
// order at random. A step is longer than the few nanoseconds by which a fast or slow clock rounds.
func (s *seat) apart() time.Duration { return time.Duration(1+s.index) * 16 * time.Nanosecond }

// lingered wakes an idle worker for messages that nobody has taken.
func (s *seat) lingered() {
	s.mu.Lock()
	s.armed = false
	wake := len(s.queue) > 0 && s.held == 0 && s.wakes()
	s.mu.Unlock()
	if wake {
		s.more.Signal()
	}
}

// lookout schedules another pipeline if all are under way for long and the queue waits. s.mu is held.
func (s *seat) lookout() {
	share := s.fan.config.Set.Window / shares
	if s.watched || len(s.queue) == 0 || s.held > 0 || s.away < s.fan.workers() || s.trip <= share || s.spares == mostSpares {
		return
	}
	s.watched = true
	left := max(share-s.fan.Now().Sub(s.oldest), 0) + s.apart()
	if s.watch == nil {
		s.watch = time.AfterFunc(left, s.waited)
	} else {
		s.watch.Reset(left)
	}
}

// waited starts another pipeline if a message has waited for a share of the window. While the queue is not empty some
// worker will come back for it, so the fan-out still waits for its workers.
func (s *seat) waited() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched = false
	if len(s.queue) > 0 && s.held == 0 && s.away >= s.fan.workers() && s.spares < mostSpares &&
		s.fan.Now().Sub(s.oldest) >= s.fan.config.Set.Window/shares {
		s.spares++
		s.fan.wait.Go(func() { s.serve(true) })
		return
	}
	s.lookout()
}

func (s *seat) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.more.Broadcast()
	s.parked.stop()
}

// work runs one worker. It ends when the seat is closed and its queue is empty.
func (s *seat) work() { s.serve(false) }

// serve sends the queued messages. A spare ends when the queue is empty.
func (s *seat) serve(spare bool) {
	var batch, again []*Message
	var p pipeline
	for first := true; ; first = false {
		batch = s.take(batch[:0], !first, spare)
		if len(batch) == 0 {
			return
		}
		batch = s.weed(batch)
		if len(batch) == 0 {
			continue
		}
		votes := !s.onlyReleases(batch) && s.admitted()
		again = s.send(nil, batch, again[:0], &p, votes)
		if len(again) > 0 {
			// The server restarted or was flushed. So meet the new incarnation, and then send the messages again that
			// it did not run.
			s.forgot()
			votes = s.admitted()
			if again = s.weed(again); len(again) > 0 {
				for _, m := range s.send(nil, again, nil, &p, votes) {
					s.answer(m, nodescript.Answer{Verdict: nodescript.NotAdmitted})
				}
			}
		}
		clear(batch)
		clear(again[:cap(again)])
	}
}

// take waits for messages and returns up to largestBatch of them, or none when the seat is closed. back says that the
// worker has just sent a batch. A spare does not wait.
func (s *seat) take(batch []*Message, back, spare bool) []*Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if back && !spare {
		s.away--
	}
	for len(s.queue) == 0 || s.held > 0 {
		if spare {
			s.spares--
			return nil
		}
		if s.closed && s.held == 0 {
			return nil
		}
		s.more.Wait()
	}
	batch = s.dequeue(batch)
	if !spare {
		s.leave(len(batch))
	}
	s.lookout()
	return batch
}

// dequeue moves up to largestBatch messages from the queue to batch. s.mu is held.
func (s *seat) dequeue(batch []*Message) []*Message {
	n := min(len(s.queue), largestBatch)
	batch = append(batch, s.queue[:n]...)
	rest := copy(s.queue, s.queue[n:])
	clear(s.queue[rest:])
	s.queue = s.queue[:rest]
	return batch
}

// leave notes that another pipeline leaves, with n messages. s.mu is held.
func (s *seat) leave(n int) {
	if s.alone++; n > 1 {
		s.alone = 0
	}
	s.worked = s.fan.Now()
	if s.away++; s.away == 1 {
		s.since = s.worked
	}
}

// weed removes messages that are not worth sending any more, and answers them. So the queue of a hung node delays
// nobody.
func (s *seat) weed(batch []*Message) []*Message {
	now := s.fan.Now()
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

// send runs a batch in one pipeline and delivers the answers. It appends to again the messages that the node did not
// run because it does not know the scripts or the guard. c is the caller that carries the batch, nil for a worker.
func (s *seat) send(c *carrier, batch, again []*Message, p *pipeline, votes bool) []*Message {
	s.mu.Lock()
	scripts := s.standing.Scripts()
	refusal := s.standing.Refusal(s.fan.Now())
	releases := s.standing.PassesDoor(nodescript.Release)
	s.mu.Unlock()

	defer p.clear()
	for _, m := range batch {
		switch {
		case m.hail && votes:
			m.answer(s.index, nodescript.Answer{Verdict: nodescript.Done})
		case m.hail, !votes && !(releases && passes(m)):
			s.answer(m, refusal)
		default:
			p.add(m)
		}
	}
	if p.used == 0 {
		return again
	}
	ctx, cancel := context.WithTimeout(s.fan.bound(c, batch), s.fan.config.Timeout)
	c.watch(cancel)
	sent := s.fan.Now()
	replies := s.node.EvalSHA(ctx, p.made(scripts))
	received := s.fan.Now()
	cut := c.cut(ctx)
	cancel()
	if len(replies) > 0 && !changed(replies[0].Err) {
		s.mu.Lock()
		s.trip = received.Sub(sent)
		s.mu.Unlock()
	}
	p.answered(replies, func(m *Message, a nodescript.Answer) {
		switch {
		case a.Verdict == nodescript.NotAdmitted || node.Code(a.Err) == node.NoScript:
			again = append(again, m)
			return
		case a.Verdict == nodescript.OffClock:
			a.Took = received.Sub(sent)
			s.fan.read(quorum.Reading{Node: s.index, Time: a.Time, Sent: sent, Received: received})
		case cut && changed(a.Err):
			s.cutOff(m, a)
			return
		case changed(a.Err):
			s.broke(a.Err)
		}
		s.answer(m, a)
	})
	return again
}

// changed reports whether err means that another server may be there now: the connection broke, nobody listens, no
// answer came in time, or the server became a replica. The node is then greeted and admitted anew. A server that was a
// replica in between may have another server's memory, although its scripts and its run id are the same. The new
// greeting also limits the calls to a dead node: a client dials it now and then, and not for every call.
func changed(err error) bool {
	switch node.Code(err) {
	case "":
		return err != nil
	case node.ReadOnly, node.Loading, node.MasterDown:
		return true
	}
	return false
}

// onlyReleases reports whether no message of batch needs the node's vote. Then the worker does not greet a node first
// that may need its whole timeout to answer, or longer.
func (s *seat) onlyReleases(batch []*Message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Next(s.fan.Now()) // this ends a refusal whose time is over
	return s.standing.PassesDoor(nodescript.Release) && !slices.ContainsFunc(batch, func(m *Message) bool { return !passes(m) })
}

func passes(m *Message) bool { return m.Call.Op.GivesBack() }

// answer delivers an answer. It parks a release or quit that did not get through.
func (s *seat) answer(m *Message, a nodescript.Answer) {
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
