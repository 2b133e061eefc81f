package fanout

import (
	"sync"
	"time"
)

const (
	// unparkEvery is the pause before the sender tries the parked messages again, all in one pipeline.
	unparkEvery = 200 * time.Millisecond
	// mostParked limits the memory that a dead node costs. If a release is dropped, its lease ends by itself after the
	// TTL, and a place in a node's queue of waiters ends after a minute.
	mostParked = 16384
)

// parked keeps the releases and quits that a node could not get. It keeps each message until the lease or place that
// the message gives back has ended on the node anyway.
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
		p.timer = time.AfterFunc(unparkEvery+apart(s.index), func() { p.unpark(s) })
	}
}

func (p *parked) unpark(s *sender) {
	p.mu.Lock()
	messages := p.messages
	p.messages, p.timer = nil, nil
	p.mu.Unlock()
	now := s.fan.Now()
	for _, m := range messages {
		if now < m.Persist {
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
