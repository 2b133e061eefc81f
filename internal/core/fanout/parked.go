package fanout

import (
	"sync"
	"time"
)

const (
	// unparkEvery is the pause before the sender tries all parked messages again.
	unparkEvery = 200 * time.Millisecond
	// mostParked limits the memory that a dead node costs. Further releases are dropped. A lease whose release is
	// dropped ends after its TTL, and a place in a queue of waiters ends after a minute.
	mostParked = 16384
)

// parked contains the releases and quits that could not be sent to a node. It drops a message when the lease, or the
// place in the queue, has ended on the node by itself.
type parked struct {
	mu       sync.Mutex
	messages []*Message
	timer    *time.Timer
	stopped  bool
}

func (p *parked) add(s *sender, m *Message) {
	again := m.repeat()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped || len(p.messages) >= mostParked {
		return
	}
	p.messages = append(p.messages, again)
	if p.timer == nil {
		p.timer = s.fan.AfterFunc(unparkEvery+apart(s.index), func() { p.unpark(s) })
	}
}

func (p *parked) unpark(s *sender) {
	p.mu.Lock()
	messages := p.messages
	p.messages, p.timer = nil, nil
	p.mu.Unlock()
	now := s.fan.Now()
	for _, m := range messages {
		switch {
		case now >= m.Persist:
		case s.slots != nil:
			s.slots.owner(m).put(m)
		default:
			s.put(m)
		}
	}
}

func (p *parked) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped, p.messages = true, nil
	if p.timer != nil {
		p.timer.Stop()
	}
}
