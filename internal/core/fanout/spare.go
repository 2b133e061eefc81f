package fanout

import "time"

// A call must reach its node within a window after its stamp was drawn. This time includes the wait in the queue and
// half of a round trip. If the node is far away, all workers may wait for answers for a long time. So another pipeline,
// a spare, starts whenever a call has waited for one sixteenth of a window, called a share here. With round trips of
// two windows, as many spares are needed as two windows have shares. The others are for nodes that take longer.
const (
	shares     = 16 // the number of shares of a window
	mostSpares = 3 * shares
)

// considerSpare sets the timer for a spare if messages wait and all workers are waiting for answers. The caller holds
// s.mu.
func (s *sender) considerSpare() {
	if s.spareSet || !s.wantsSpare() {
		return
	}
	s.spareSet = true
	left := s.spareIn() + apart(s.index)
	if s.spareTimer == nil {
		s.spareTimer = s.fan.AfterFunc(left, s.startSpare)
	} else {
		s.spareTimer.Reset(left)
	}
}

func (s *sender) wantsSpare() bool {
	return len(s.queue) > 0 && s.held == 0 && s.away >= s.fan.workers() && s.spares < mostSpares
}

// spareIn returns the time until a spare may start: until the first message has waited for a share of the window, and
// the last pipeline left at least a share ago. So a node that answers fast gets no spares. If answers take more than
// two windows, the spares leave at longer intervals. Otherwise all of them would leave at once, and later messages
// would wait for their answers. The caller holds s.mu.
func (s *sender) spareIn() time.Duration {
	share, now := s.fan.config.Set.Window/shares, s.fan.Now()
	silent := now.Sub(max(s.since, s.answered))
	pause := max(share, s.trip/(2*shares))
	if silent > 2*s.fan.config.Set.Window {
		pause = max(pause, silent/4)
	}
	return max(share-now.Sub(s.oldest), pause-now.Sub(s.worked), 0)
}

// startSpare starts a spare if a message has waited for long enough. It is safe to add the spare to the wait group:
// while messages wait, at least one worker has not ended.
func (s *sender) startSpare() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spareSet = false
	if s.wantsSpare() && s.spareIn() == 0 {
		s.spares++
		s.fan.wait.Go(func() { s.serve(true) })
		return
	}
	s.considerSpare()
}
