package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// This file contains what the tests of semaphores share.

// slots contains the present holders of the slots of a semaphore, as the holders themselves see it.
type slots struct {
	t       *testing.T
	mu      sync.Mutex
	holders map[int]*holdfast.Lease
	fences  map[int]int64
	most    int // the largest number of holders so far
}

func newSlots(t *testing.T) *slots {
	return &slots{t: t, holders: map[int]*holdfast.Lease{}, fences: map[int]int64{}}
}

// take notes a holder. It checks that nobody else has the slot, and that the token is higher than all earlier tokens of
// the slot.
func (s *slots) take(l *holdfast.Lease, k int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := l.Slot()
	switch other := s.holders[slot]; {
	case slot < 0 || slot >= k:
		s.t.Errorf("%v: want a slot below %d", l, k)
	case other != nil:
		s.t.Errorf("%v and %v at the same time", other, l)
	case l.Fence() <= s.fences[slot]:
		s.t.Errorf("%v follows the fence %d", l, s.fences[slot])
	}
	s.holders[slot], s.fences[slot] = l, l.Fence()
	s.most = max(s.most, len(s.holders))
}

// give gives a slot back.
func (s *slots) give(l *holdfast.Lease) {
	s.mu.Lock()
	delete(s.holders, l.Slot())
	s.mu.Unlock()
	if err := l.Unlock(s.t.Context()); err != nil {
		s.t.Error(err)
	}
}

// awaitMost waits until there were k holders at a time, or until an instant. A busy machine may be slower to pass a
// slot on than its holder is to give it back, so short holds alone might never overlap.
func (s *slots) awaitMost(k int, until time.Time) {
	for time.Now().Before(until) {
		s.mu.Lock()
		most := s.most
		s.mu.Unlock()
		if most >= k {
			return
		}
		<-time.After(time.Millisecond)
	}
}

// inLineForSlot waits until n waiters are in the queues of all nodes.
func (s *set) inLineForSlot(name string, n int) {
	s.t.Helper()
	redistest.Eventually(s.t, time.Minute, fmt.Sprintf("%d waiters in every queue", n), func() bool {
		for i := range s.n() {
			srv, name := s.at(i, name)
			if v, _ := srv.Do("ZCOUNT", nodescript.SlotsQueueKey(name), "0", "+inf"); v != int64(n) {
				return false
			}
		}
		return true
	})
}
