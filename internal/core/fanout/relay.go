package fanout

import (
	"sync"
	"sync/atomic"
)

// relay wakes the workers of several nodes one after the other in a busy process: each worker that begins to run wakes
// the next one.
//
// A goroutine that is woken runs next on its processor, in the rest of its waker's time. So the first worker runs at
// once. But if one goroutine wakes several workers, each of them takes the place of the one before, which then waits
// behind all goroutines that compute. The requests to the nodes would leave seconds apart. In a process that is not
// busy a relay would only cost time: there, idle processors take the workers at once.
type relay struct {
	running atomic.Bool // a worker that was woken has not begun to run; changed under mu
	mu      sync.Mutex
	waiting []*sender // each of them once
}

// wake wakes a worker of s. The caller does not hold s.mu.
func (f *Fanout) wake(s *sender) {
	if f.N() == 1 || f.Delay() == 0 {
		s.more.Signal()
		return
	}
	if s.relayed.Swap(true) {
		return // a worker of s will be woken, or was woken and has not looked at the queue yet
	}
	r := &f.relay
	r.mu.Lock()
	if r.running.Load() {
		r.waiting = append(r.waiting, s)
		r.mu.Unlock()
		return
	}
	r.running.Store(true)
	r.mu.Unlock()
	if !s.signal() {
		f.passOn(s)
	}
}

// signal wakes an idle worker. It returns false if there is none: each worker looks at the queue before it waits.
func (s *sender) signal() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle > 0 {
		s.more.Signal()
	}
	return s.idle > 0
}

// passOn wakes the next worker. Every worker of s calls it before it looks at the queue, also one that was not woken:
// it may take the messages for which another worker was woken. The caller does not hold s.mu.
func (f *Fanout) passOn(s *sender) {
	r := &f.relay
	if !s.relayed.Load() && !r.running.Load() {
		return
	}
	for next := s; next != nil; {
		next.relayed.Store(false) // from now on its messages are seen, or wake somebody again
		next = nil
		r.mu.Lock()
		if len(r.waiting) > 0 {
			next = r.waiting[0]
			r.waiting = append(r.waiting[:0], r.waiting[1:]...)
		} else {
			r.running.Store(false)
		}
		r.mu.Unlock()
		if next != nil && next.signal() {
			return
		}
	}
}
