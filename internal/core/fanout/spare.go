package fanout

import (
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// A call ages while it waits, and arrives later by half of a round trip. Both times together must be less than a
// window. If a node is far away, all pipelines to it may be under way for longer than a share of the window. Then
// another pipeline starts whenever a call has waited for such a share. Round trips of two windows need as many
// pipelines as two windows have shares.
const (
	shares     = 16 // the number of shares of a window
	mostSpares = 2 * shares
)

// A driver has a connection for each call: one for each spare, each worker and one caller, and four more. These four
// are for a greeting, a report, a reading of the clocks, and a question about the node's state.
const _ = uint(node.MaxCalls - mostSpares - workersOfOne - 1 - 4)

// considerSpare schedules another pipeline if all pipelines have been under way for long and the queue is not empty.
// The caller holds s.mu.
func (s *sender) considerSpare() {
	share := s.fan.config.Set.Window / shares
	if s.spareSet || len(s.queue) == 0 || s.held > 0 || s.away < s.fan.workers() || s.trip <= share || s.spares == mostSpares {
		return
	}
	s.spareSet = true
	left := max(share-s.fan.Now().Sub(s.oldest), 0) + apart(s.index)
	if s.spareTimer == nil {
		s.spareTimer = time.AfterFunc(left, s.startSpare)
	} else {
		s.spareTimer.Reset(left)
	}
}

// startSpare starts another pipeline if a message has waited for a share of the window. While the queue is not empty,
// at least one worker will come back for it. So the fan-out still waits for its workers when the spare joins them.
func (s *sender) startSpare() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spareSet = false
	if len(s.queue) > 0 && s.held == 0 && s.away >= s.fan.workers() && s.spares < mostSpares &&
		s.fan.Now().Sub(s.oldest) >= s.fan.config.Set.Window/shares {
		s.spares++
		s.fan.wait.Go(func() { s.serve(true) })
		return
	}
	s.considerSpare()
}
