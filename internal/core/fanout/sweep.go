package fanout

// sweepFrom is the length of a queue from which sweeps begin.
const sweepFrom = 1024

// considerSweep starts a sweep if all workers wait for answers, and the queue has doubled since the last sweep. The
// caller holds s.mu, and has just added a message.
func (s *sender) considerSweep() {
	if s.sweeping || s.away < s.fan.workers() || len(s.queue) < max(sweepFrom, 2*s.swept) {
		return
	}
	s.sweeping = true
	s.held++ // a worker that finds no message could end
	s.fan.wait.Go(s.sweep)
}

// sweep answers and removes the messages that are not worth sending any more. Workers do the same when they take
// messages. But while the node hangs, they take none until the node timeout, and callers may send many messages.
func (s *sender) sweep() {
	s.mu.Lock()
	batch := s.queue
	s.queue = nil
	s.mu.Unlock()
	kept := s.removeExpired(batch, s.fan.Now()) // without s.mu, because a receiver may send a message
	s.mu.Lock()
	s.queue = append(kept, s.queue...)
	s.swept, s.sweeping = len(s.queue), false
	s.mu.Unlock()
	s.hold(-1)
}
