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
// time, the client greets the node, and another spare may send later messages. So pipelines whose connections are dead
// keep nothing from the node.
type limit struct {
	ctx    context.Context
	cancel context.CancelFunc
	sent   clock.Instant
	renews bool        // the pipeline has renewals
	timer  *time.Timer // fires at the node timeout; nil: the whole pipeline ends then

	spare    bool // a spare sends the pipeline
	replaced bool // another worker or spare may have taken the place of this one; the sender's mutex guards it

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
	within, l := s.fan.bound(c, first), &limit{sent: s.fan.Now(), spare: p.spare, replaced: p.replaced}
	left := until.Sub(l.sent)
	l.renews = until != 0
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

// overdue answers the messages of a pipeline that do not wait for longer than the node timeout. The pipeline stays as
// it is meanwhile, because end waits.
func (s *sender) overdue(l *limit, p *pipeline) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.overdue = true
	l.stop = context.AfterFunc(s.fan.hear, l.cancel)
	s.voter.overdue(l.sent)
	s.hang(l)
	for m := range p.messages {
		if m.Until == 0 {
			s.answer(m, failed(context.DeadlineExceeded))
		} else if to, ok := m.To.(Patient); ok {
			to.Overdue()
		}
	}
}

// hang notes that a pipeline has waited for the node timeout. It occupies no spare from then on. Spares leave at longer
// and longer intervals while the node answers nothing, so few pipelines hang at a time: see spareIn.
func (s *sender) hang(l *limit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hanging = append(s.hanging, l)
	if l.spare && !l.replaced {
		l.replaced = true
		s.spares--
	}
	s.considerSpare()
}

// replaceHanging starts workers for those whose pipelines left more than a node timeout before another one with
// renewals, which left at the instant sent and which the node has answered. Their connections are probably dead, but
// they wait on: an answer may still come. The caller holds s.mu.
func (s *sender) replaceHanging(sent clock.Instant) {
	for _, l := range s.hanging {
		if !l.replaced && sent.Sub(l.sent) > s.fan.config.Timeout {
			l.replaced = true
			s.away--
			s.fan.wait.Go(s.work)
		}
	}
}

// end ends the limit of a pipeline when the node has answered, or did not. It reports whether the messages without
// Until have their answer.
func (s *sender) end(l *limit) (overdue bool) {
	l.cancel()
	if l.timer == nil {
		return false
	}
	l.timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended = true; !l.overdue {
		return false
	}
	l.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hanging = slices.DeleteFunc(s.hanging, func(other *limit) bool { return other == l })
	return true
}
