package fanout

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// These constants decide how many pipelines to a node are under way at the same time.
//
// A single node decides alone, so a message that waits for this node delays its whole operation. Three pipelines keep
// the node and the client busy at once. With several nodes, each node answers while the client talks to the others, and
// a larger batch costs less per message. So with several nodes a second pipeline starts only if the first has been
// under way for linger, which is the round trip of a fast network. A timer then starts the second pipeline.
const (
	workersOfOne  = 3
	workersOfMany = 2
	linger        = 250 * time.Microsecond
)

// sender carries all calls to one node: it has the queue of messages and the workers that send them in pipelines.
type sender struct {
	fan   *Fanout
	index int
	node  node.Node
	voter *voter

	mu          sync.Mutex
	more        sync.Cond
	queue       []*Message
	held        int           // the number of callers that will give more messages: see Together
	away        int           // the number of pipelines under way, of workers and of a carrier
	since       clock.Instant // the instant at which the first of these pipelines left
	worked      clock.Instant // the instant at which the last of these pipelines left
	oldest      clock.Instant // the instant at which the queue began to fill
	trip        time.Duration // the time that the node took for the last pipeline that it answered
	spares      int           // the number of spares' pipelines under way, beside the workers' pipelines
	spareTimer  *time.Timer   // starts a spare; nil before the first use
	spareSet    bool          // spareTimer is running
	lingerTimer *time.Timer   // wakes a worker at the end of linger; nil before the first use
	lingerSet   bool          // lingerTimer is running
	closed      bool
	alone       atomic.Int32 // the number of messages in a row that came to an idle sender; at most seldom
	carrier     carrier      // a caller that carries its messages itself

	parked parked
}

func newSender(f *Fanout, i int, n node.Node, v *voter) *sender {
	s := &sender{fan: f, index: i, node: n, voter: v}
	s.more.L = &s.mu
	return s
}

// put adds a message to the queue.
func (s *sender) put(m *Message) {
	s.mu.Lock()
	if s.closed && s.away == 0 { // messages that answers cause while the sender closes are still sent
		s.mu.Unlock()
		go m.answer(s.index, failed(node.ErrClosed)) // on its own goroutine, because the caller may hold a mutex
		return
	}
	if len(s.queue) == 0 {
		s.oldest = s.fan.Now()
	}
	if (s.away > 0 || len(s.queue) > 0) && s.alone.Load() > 0 {
		s.alone.Store(0)
	}
	s.queue = append(s.queue, m)
	wake := s.held == 0 && !s.reserved() && s.wakes()
	s.considerSpare()
	s.mu.Unlock()
	if wake {
		s.more.Signal()
	}
}

// hold changes the number of callers that will give more messages. While the number is not 0, workers leave the queue
// alone.
func (s *sender) hold(n int) {
	s.mu.Lock()
	s.held += n
	free, closed := s.held == 0, s.closed
	wake := free && len(s.queue) > 0 && !s.reserved() && s.wakes()
	s.considerSpare()
	s.mu.Unlock()
	switch {
	case free && closed:
		s.more.Broadcast()
	case wake:
		s.more.Signal()
	}
}

// wakes reports whether an idle worker must take a new message. If the pipelines under way have just left, a timer
// decides later. The caller holds s.mu.
func (s *sender) wakes() bool {
	if s.away == 0 || s.fan.N() == 1 {
		return true
	}
	if s.away == workersOfMany || s.lingerSet {
		return false
	}
	left := linger - s.fan.Now().Sub(s.since)
	if left < 0 {
		return true
	}
	s.lingerSet = true
	left += apart(s.index)
	if s.lingerTimer == nil {
		s.lingerTimer = time.AfterFunc(left, s.lingerOver)
	} else {
		s.lingerTimer.Reset(left)
	}
	return false
}

// lingerOver wakes an idle worker for messages that no worker has taken.
func (s *sender) lingerOver() {
	s.mu.Lock()
	s.lingerSet = false
	wake := len(s.queue) > 0 && s.held == 0 && s.wakes()
	s.mu.Unlock()
	if wake {
		s.more.Signal()
	}
}

func (s *sender) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.more.Broadcast()
	s.parked.stop()
}

// apart keeps the timers of two nodes from firing at the same instant. Otherwise the runtime would choose their order
// at random in a simulation. A step is longer than the few nanoseconds by which a fast or slow clock rounds.
func apart(node int) time.Duration { return time.Duration(1+node) * 16 * time.Nanosecond }
