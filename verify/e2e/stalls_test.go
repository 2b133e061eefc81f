package e2e

import (
	"sync"
	"testing"
	"time"
)

// stalls measures how late this process gets the processor. Tests with time limits allow for this delay.
type stalls struct {
	mu      sync.Mutex
	due     time.Time // when the present timer must fire
	longest time.Duration
}

// watchStalls measures stalls until the test ends.
func watchStalls(t *testing.T) *stalls {
	const every = 5 * time.Millisecond
	s, stop := &stalls{due: time.Now().Add(every)}, make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(every):
				s.mu.Lock()
				s.longest = max(s.longest, time.Since(s.due))
				s.due = time.Now().Add(every)
				s.mu.Unlock()
			}
		}
	})
	t.Cleanup(func() { close(stop); wait.Wait() })
	return s
}

// most returns the longest stall so far, including the present one.
func (s *stalls) most() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.longest, time.Since(s.due))
}
