package fanout

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// These constants decide how many pipelines may be under way to a node at the same time.
//
// A single node decides alone, so a message that waits for this node delays its operation. Three pipelines keep the
// node and the client busy at the same time. With several nodes, the client talks to the other nodes while one node
// answers, and larger pipelines cost less per message. So with several nodes, a second pipeline starts only if the
// first has been under way for the time linger, which is a round trip in a fast network.
const (
	workersOfOne  = 3
	workersOfMany = 2
	linger        = 250 * time.Microsecond
)

// sender sends all messages to one node. It contains the queue of messages and the workers, which send them in
// pipelines.
type sender struct {
	fan   *Fanout
	index int
	node  node.Node
	voter *voter
	slots *hashSlots // nil: the node is no shard

	mu          sync.Mutex
	more        sync.Cond
	queue       []*Message
	held        int           // the number of callers in Together that will still add messages, and of sweeps
	sweeping    bool          // a sweep is under way
	swept       int           // the length of the queue after the last sweep
	away        int           // the number of pipelines that workers and a carrier have under way
	since       clock.Instant // when the first of these pipelines was sent
	worked      clock.Instant // when the last of these pipelines was sent
	oldest      clock.Instant // when the first message came into the empty queue
	trip        time.Duration // the round trip of the last pipeline that the node answered
	answered    clock.Instant // when the node answered it
	spares      int           // the number of additional pipelines: see startSpare
	hanging     []*limit      // the pipelines that have waited for longer than the node timeout, the oldest first
	spareTimer  *time.Timer   // starts a spare; nil before the first use
	spareSet    bool          // spareTimer is running
	lingerTimer *time.Timer   // wakes a worker at the end of linger; nil before the first use
	lingerSet   bool          // lingerTimer is running
	closed      bool
	idle        int          // the number of workers that wait for messages
	relayed     atomic.Bool  // the relay will wake a worker, or it woke one that has not looked at the queue
	alone       atomic.Int32 // the number of messages in a row that found the sender idle; at most seldom
	carrier     carrier      // a caller that carries its messages itself

	parked parked
}

func newSender(f *Fanout, i int, n node.Node, v *voter) *sender {
	s := &sender{fan: f, index: i, node: n, voter: v}
	s.more.L = &s.mu
	if f.config.Shard != nil {
		s.slots = &hashSlots{sender: s, shard: f.config.Shard, turns: make(chan struct{}, adopting)}
		s.carrier.pipeline.shard = true
	}
	return s
}

// put adds a message to the queue.
func (s *sender) put(m *Message) {
	s.mu.Lock()
	if s.closed && s.away == 0 { // while pipelines are under way, their answers may cause further messages, and those are still sent
		s.mu.Unlock()
		go m.answer(s.index, failed(node.ErrClosed)) // on its own goroutine, because the caller may hold a mutex that the receiver needs
		return
	}
	if len(s.queue) == 0 && s.carrier.to == nil { // otherwise it is sent at once: see carry
		s.oldest = s.fan.Now()
	}
	if (s.away > 0 || len(s.queue) > 0) && s.alone.Load() > 0 {
		s.alone.Store(0)
	}
	s.queue = append(s.queue, m)
	s.considerSweep()
	wake := s.held == 0 && !s.reserved() && s.wakes()
	s.considerSpare()
	s.mu.Unlock()
	if wake {
		s.fan.wake(s)
	}
}

// hold changes the number of callers that will still add messages. While it is above 0, workers do not take messages.
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
		s.fan.wake(s)
	}
}

// wakes reports whether an idle worker must take a new message now. If pipelines have left only a moment ago, wakes
// returns false and sets a timer that decides again. The caller holds s.mu.
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
		s.lingerTimer = s.fan.AfterFunc(left, s.lingerEnded)
	} else {
		s.lingerTimer.Reset(left)
	}
	return false
}

// lingerEnded wakes an idle worker if messages still wait at the end of linger.
func (s *sender) lingerEnded() {
	s.mu.Lock()
	s.lingerSet = false
	wake := len(s.queue) > 0 && s.held == 0 && s.wakes()
	s.mu.Unlock()
	if wake {
		s.fan.wake(s)
	}
}

func (s *sender) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.more.Broadcast()
	s.parked.stop()
}

// apart is a tiny delay that is different for each node. With it, the timers of two nodes never fire at the same
// instant. In a simulation the runtime would otherwise choose their order at random. A step is longer than the few
// nanoseconds by which a fast or slow clock of a simulation rounds.
func apart(node int) time.Duration { return time.Duration(1+node) * 16 * time.Nanosecond }
