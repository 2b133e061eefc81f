package fanout

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// largestBatch bounds how long a server is busy with one of our pipelines.
const largestBatch = 256

// A single node decides alone, so what waits for it waits in full: three pipelines keep
// it and us busy at the same time. Of several nodes each answers while we talk to
// the others, and what gathers meanwhile travels for less: there a second pipeline
// starts only where the first has been on its way for linger, the round trip of a fast
// network. A timer starts it then.
const (
	workersOfOne  = 3
	workersOfMany = 2
	linger        = 250 * time.Microsecond
)

// A call ages while it waits, and arrives later by half of a round trip: both together must be less than a window. Where
// a node is so far away that all its pipelines are away for longer than a share of the window, another one starts
// whenever a call has waited for that share. Round trips of two windows need as many of them as there are shares in that.
const (
	shares     = 16 // in a window
	mostSpares = 2 * shares
)

// A driver has a connection for each call: those of spares and workers, a greeting, a report, a look at the clocks, and a
// question about the node's state.
const _ = uint(node.MaxCalls - mostSpares - workersOfOne - 4)

// seat is one node as the fan-out sees it.
type seat struct {
	fan   *Fanout
	index int
	node  node.Node

	mu        sync.Mutex
	more      sync.Cond
	queue     []*Message
	held      int           // senders who have not given all they will
	away      int           // pipelines on their way
	since     clock.Instant // when the first of them left
	worked    clock.Instant // when the last of them left
	oldest    clock.Instant // when the queue began to fill
	trip      time.Duration // what the node took for the last pipeline that it answered
	spares    int           // pipelines on their way beside those of workers
	watch     *time.Timer   // starts another one; nil before it is needed
	watched   bool          // it will
	late      *time.Timer   // wakes a worker when linger is over; nil before it is needed
	armed     bool          // it will
	closed    bool
	standing  *quorum.Standing
	trusted   bool          // it does not tell its settings, which was logged
	said      refused       // the last refusal told; zero while the node votes
	unsettled spell         // the refusals of late for clocks that are not known
	heard     bool          // it answered to a greeting once,
	greeted   clock.Instant // and the first that it answered was over then; 0: it is not yet

	door   door // held while greeting and admitting
	parked parked
}

func newSeat(f *Fanout, i int, n node.Node) *seat {
	s := &seat{fan: f, index: i, node: n, standing: quorum.NewStanding(f.config.Set), door: newDoor()}
	s.more.L = &s.mu
	return s
}

func (s *seat) put(m *Message) {
	s.mu.Lock()
	if s.closed && s.away == 0 { // what answers still bring about is sent
		s.mu.Unlock()
		go m.answer(s.index, failed(node.ErrClosed)) // the sender may hold its own lock
		return
	}
	if len(s.queue) == 0 {
		s.oldest = s.fan.Now()
	}
	s.queue = append(s.queue, m)
	wake := s.held == 0 && s.wakes()
	s.lookout()
	s.mu.Unlock()
	if wake {
		s.more.Signal()
	}
}

// hold keeps the workers from what is in the queue, or lets them.
func (s *seat) hold(n int) {
	s.mu.Lock()
	s.held += n
	free, closed := s.held == 0, s.closed
	wake := free && len(s.queue) > 0 && s.wakes()
	s.lookout()
	s.mu.Unlock()
	switch {
	case free && closed:
		s.more.Broadcast()
	case wake:
		s.more.Signal()
	}
}

// wakes reports whether what was put is for another worker than those who are away; if that is not sure yet, it is
// looked at again when it is. s.mu is held.
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

// apart keeps the timers of two seats from firing in the same instant: in a simulation the runtime draws lots among those.
// A clock that runs fast or slow rounds by a few nanoseconds, so a step is more than that.
func (s *seat) apart() time.Duration { return time.Duration(1+s.index) * 16 * time.Nanosecond }

// lingered wakes an idle worker for what has gathered, and nobody took.
func (s *seat) lingered() {
	s.mu.Lock()
	s.armed = false
	wake := len(s.queue) > 0 && s.held == 0 && s.wakes()
	s.mu.Unlock()
	if wake {
		s.more.Signal()
	}
}

// lookout sees to it that another pipeline starts where all are away for long and the queue waits. s.mu is held.
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

// waited starts another pipeline for what has waited. While the queue is not empty a worker is to come back for it, so
// the fan-out still waits for its workers.
func (s *seat) waited() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched = false
	if len(s.queue) > 0 && s.held == 0 && s.away == s.fan.workers() && s.spares < mostSpares &&
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

// work is one worker: it ends when the seat is closed and its queue is empty.
func (s *seat) work() { s.serve(false) }

// serve sends what is in the queue; a spare ends when that is empty.
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
		again = s.send(batch, again[:0], &p, votes)
		if len(again) > 0 {
			// The server restarted or was flushed: meet the new incarnation, then send
			// once more what it did not run.
			s.forgot()
			votes = s.admitted()
			if again = s.weed(again); len(again) > 0 {
				for _, m := range s.send(again, nil, &p, votes) {
					s.answer(m, nodescript.Answer{Verdict: nodescript.NotAdmitted})
				}
			}
		}
		clear(batch)
		clear(again[:cap(again)])
	}
}

// take waits for messages and returns up to largestBatch of them; none when closed. back
// says that the worker returns from others. A spare does not wait.
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
	if !spare {
		s.worked = s.fan.Now()
		if s.away++; s.away == 1 {
			s.since = s.worked
		}
	}
	n := min(len(s.queue), largestBatch)
	batch = append(batch, s.queue[:n]...)
	rest := copy(s.queue, s.queue[n:])
	clear(s.queue[rest:])
	s.queue = s.queue[:rest]
	s.lookout()
	return batch
}

// weed answers for messages that are not worth sending any more, so that a hung
// node's queue delays nobody.
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

// send runs a batch in one pipeline and hands out the answers; it appends to again what
// the node did not run because it does not know the scripts or the guard.
func (s *seat) send(batch, again []*Message, p *pipeline, votes bool) []*Message {
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
	ctx, cancel := context.WithTimeout(s.fan.ctx, s.fan.config.Timeout)
	sent := s.fan.Now()
	replies := s.node.EvalSHA(ctx, p.made(scripts))
	received := s.fan.Now()
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
		case changed(a.Err):
			s.broke(a.Err)
		}
		s.answer(m, a)
	})
	return again
}

// changed reports whether err hints that the server is not what it was: the connection
// broke, nobody listens, nothing was heard in time, or it became a replica. It is greeted and admitted anew then:
// a server that was a replica in between may have another's memory, its scripts and
// its run id notwithstanding. And a dead node is dialled once in a while, not for
// every call.
func changed(err error) bool {
	switch node.Code(err) {
	case "":
		return err != nil
	case node.ReadOnly, node.Loading, node.MasterDown:
		return true
	}
	return false
}

// onlyReleases reports whether nothing in batch needs the node's vote: then nobody has
// to greet a node that may take its timeout to answer, or never answer in time.
func (s *seat) onlyReleases(batch []*Message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Next(s.fan.Now()) // a refusal may be over
	return s.standing.PassesDoor(nodescript.Release) && !slices.ContainsFunc(batch, func(m *Message) bool { return !passes(m) })
}

func passes(m *Message) bool { return m.Call.Op.GivesBack() }

// answer hands an answer out; what gives back and did not get through is parked.
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
