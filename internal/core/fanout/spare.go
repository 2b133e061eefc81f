package fanout

// A call must reach its node within a window after its stamp was drawn. This time includes the wait in the queue and
// half of a round trip. If the node is far away, all workers may wait for answers for a long time. So another
// pipeline, a spare, starts whenever a call has waited for one sixteenth of a window, called a share here. With round
// trips of two windows, as many spares are needed as two windows have shares.
const (
	shares     = 16 // the number of shares of a window
	mostSpares = 2 * shares
)

// considerSpare sets the timer for a spare if messages wait and all workers are waiting for answers. It does nothing
// for a node that answers within a share. The caller holds s.mu.
func (s *sender) considerSpare() {
	share := s.fan.config.Set.Window / shares
	if s.spareSet || len(s.queue) == 0 || s.held > 0 || s.away < s.fan.workers() || s.trip <= share && s.stuck == 0 || s.spares == mostSpares {
		return
	}
	s.spareSet = true
	left := max(share-s.fan.Now().Sub(s.oldest), 0) + apart(s.index)
	if s.spareTimer == nil {
		s.spareTimer = s.fan.AfterFunc(left, s.startSpare)
	} else {
		s.spareTimer.Reset(left)
	}
}

// startSpare starts a spare if a message has waited for a share of the window. It is safe to add the spare to the wait
// group: while messages wait, at least one worker has not ended.
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
