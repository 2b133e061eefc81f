package fanout

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// limit is the time limit of a pipeline: the node timeout. But a renewal waits as long as its lease lasts, so a pipeline
// with renewals goes on. At the node timeout its other messages get the answer that the node did not answer in time, and
// the client greets the node.
type limit struct {
	ctx    context.Context
	cancel context.CancelFunc
	sent   clock.Instant
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
	within, l := s.fan.bound(c, first), &limit{sent: s.fan.Now()}
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
	for m := range p.messages {
		if m.Until == 0 {
			s.answer(m, failed(context.DeadlineExceeded))
		}
	}
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
	}
	return l.overdue
}
