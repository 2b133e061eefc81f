package fanout

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// Calls outside the queues of messages also need places among the MaxCalls calls to a node. A call to a node that hangs
// keeps its place until its timeout, which may be as long as MaxTTL. So the numbers of these calls are limited, too.
const (
	mostReports   = 8  // reports of members, one of which is ending: a further report ends the oldest
	mostQuestions = 12 // questions of callers, such as Status; further questions wait
	otherDirect   = 8  // places for a greeting, a refresh, a voucher, and readings of the clock
)

// A driver allows MaxCalls calls at a time. The spares, the workers and a carrier need one each. This line does not
// compile if MaxCalls is too small.
const _ = uint(node.MaxCalls - mostSpares - workersOfOne - 1 - mostReports - mostQuestions - otherDirect)

// underway is a report of members that waits for its answer.
type underway struct{ stop context.CancelFunc }

// beginReport returns the context of a new report to the node. If too many reports are under way, it ends the oldest.
// The new report must go out: the old ones may wait on dead connections, and the node may object on a new one. The
// caller holds Fanout.mu, and calls end after the report.
func (v *voter) beginReport() (ctx context.Context, end func()) {
	ctx, stop := context.WithTimeout(v.fan.hear, v.fan.patience())
	r := &underway{stop}
	if len(v.reports) == mostReports-1 {
		v.reports[0].stop()
		v.reports = slices.Delete(v.reports, 0, 1)
	}
	v.reports = append(v.reports, r)
	return ctx, func() {
		stop()
		v.fan.mu.Lock()
		defer v.fan.mu.Unlock()
		v.reports = slices.DeleteFunc(v.reports, func(o *underway) bool { return o == r })
	}
}

// asker sends the questions of callers to one node, outside the queue.
type asker struct {
	fan      *Fanout
	node     node.Node
	slots    chan struct{} // contains a value for each question under way
	answered atomic.Int64  // a clock.Instant: the last answer to a question
}

func newAsker(f *Fanout, n node.Node) *asker {
	return &asker{fan: f, node: n, slots: make(chan struct{}, mostQuestions)}
}

// Eval runs a script on the node: see ask.
func (a *asker) Eval(ctx context.Context, text string, c node.Call) node.Reply {
	text, c = a.fan.sharded(text, c)
	return a.ask(ctx, func(ctx context.Context) node.Reply { return a.node.Eval(ctx, text, c) })
}

// ask makes a call when fewer than mostQuestions questions are under way. The node timeout begins then, so many callers
// do not use up each other's time. ask makes no call if ctx ends before that, or if the node answered no question for
// the time of the node timeout.
func (a *asker) ask(ctx context.Context, call func(context.Context) node.Reply) node.Reply {
	if err := a.wait(ctx); err != nil {
		return node.Reply{Err: node.NotSent(err)}
	}
	defer func() { <-a.slots }()
	ctx, cancel := context.WithTimeout(ctx, a.fan.patience())
	defer cancel()
	r := call(ctx)
	if !unanswered(r) {
		a.answered.Store(int64(a.fan.Now()))
	}
	return r
}

// unanswered reports whether a reply is not from the server.
func unanswered(r node.Reply) bool { return r.Err != nil && node.Code(r.Err) == "" }

// wait takes a value of slots.
func (a *asker) wait(ctx context.Context) error {
	for began := a.fan.Now(); ; {
		left := max(began, clock.Instant(a.answered.Load())).Add(a.fan.patience()).Sub(a.fan.Now())
		timer := time.NewTimer(max(left, 0))
		select {
		case a.slots <- struct{}{}:
			timer.Stop()
			return nil
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
			if left <= 0 {
				return context.DeadlineExceeded
			}
		}
	}
}
