package fanout

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// limit is the time limit of a pipeline: the node timeout. But a renewal waits as long as its answer is of use, so a
// pipeline with renewals goes on. At the node timeout its other messages get the answer that the node did not answer in
// time, the client greets the node, and another worker takes the place of this one. So pipelines whose connections are
// dead keep nothing from the node.
type limit struct {
	ctx    context.Context
	cancel context.CancelFunc
	sent   clock.Instant
	spare  bool        // a spare sends the pipeline
	timer  *time.Timer // fires at the node timeout; nil: the whole pipeline ends then

	mu      sync.Mutex
	ended   bool        // the node has answered, or the pipeline was given up
	overdue bool        // the other messages have their answer
	stop    func() bool // stops the watch for Close; nil: there is none
}

// limit starts the time limit of a pipeline that c carries, or a worker if c is nil.
func (s *sender) limit(c *carrier, p *pipeline, first *Message) *limit {
	patience, until, others := s.fan.patience(), clock.Instant(0), false
	for m := range p.messages {
		until = max(until, m.Until)
		others = others || m.Until == 0
	}
	within, l := s.fan.bound(c, first), &limit{sent: s.fan.Now(), spare: p.spare}
	left := until.Sub(l.sent)
	if until == 0 || left <= patience {
		l.ctx, l.cancel = context.WithTimeout(within, patience)
		return l
	}
	if !others {
		within = s.fan.hear // renewals give nothing back, so they end early in Close
	}
	l.ctx, l.cancel = context.WithTimeout(within, left)
	l.timer = s.fan.AfterFunc(patience, func() { s.overdue(l, p) })
	return l
}

// overdue answers the messages of a pipeline that do not wait for longer than the node timeout. The pipeline stays as it
// is meanwhile, because end waits.
func (s *sender) overdue(l *limit, p *pipeline) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.overdue = true
	l.stop = context.AfterFunc(s.fan.hear, l.cancel)
	s.voter.overdue(l.sent)
	if !p.replaced {
		s.replace(l)
	}
	for m := range p.messages {
		if m.Until == 0 {
			s.answer(m, failed(context.DeadlineExceeded))
		} else if to, ok := m.To.(Patient); ok {
			to.Overdue()
		}
	}
}

// mostHanging is the largest number of pipelines that wait for longer than the node timeout. The oldest one ends when
// there are more: later renewals of its leases are under way on other connections.
const mostHanging = 16

// replace makes room for another pipeline in the place of one that has waited for the node timeout.
func (s *sender) replace(l *limit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hanging = append(s.hanging, l); len(s.hanging) > mostHanging {
		s.hanging[0].cancel()
		s.hanging = slices.Delete(s.hanging, 0, 1)
	}
	if l.spare {
		s.spares--
		s.considerSpare()
		return
	}
	s.away--
	s.fan.wait.Go(s.work)
}

// end ends the limit of a pipeline when the node has answered, or did not. It reports whether the messages without Until
// have their answer.
func (s *sender) end(l *limit) (overdue bool) {
	l.cancel()
	if l.timer == nil {
		return false
	}
	l.timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended = true; l.overdue {
		l.stop()
		s.mu.Lock()
		s.hanging = slices.DeleteFunc(s.hanging, func(other *limit) bool { return other == l })
		s.mu.Unlock()
	}
	return l.overdue
}
