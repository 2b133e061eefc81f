package register

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
)

// question is one call to all nodes. It receives the answers.
type question struct {
	mu      sync.Mutex
	answers []nodescript.Answer // by node
	left    int
	outcome quorum.Outcome
	take    func(node int, a nodescript.Answer) quorum.Outcome // called under mu
	decided chan struct{}                                      // this channel closes when outcome is not Open
	all     chan struct{}                                      // this channel closes when all nodes have answered
}

// Answered implements [fanout.Receiver].
func (q *question) Answered(node, _ int, a nodescript.Answer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.answers[node] = a
	out := q.take(node, a)
	if q.outcome == quorum.Open && out != quorum.Open {
		q.outcome = out
		close(q.decided)
	}
	if q.left--; q.left == 0 {
		close(q.all)
	}
}

// ask sends a call to all nodes and waits until take returns an outcome other than Open. The error says why there is no
// majority, that the lease has ended, or [renewal.ErrUnknown] if ctx ended first.
func (r *Register) ask(ctx context.Context, call func(stamp int64) nodescript.Call, take func(node int, a nodescript.Answer) quorum.Outcome) (*question, error) {
	n := r.fan.N()
	q := &question{
		answers: make([]nodescript.Answer, n), left: n, take: take, decided: make(chan struct{}), all: make(chan struct{}),
	}
	stamp, sent := r.fan.StampHeld()
	r.fan.Send(&fanout.Message{Call: call(stamp), To: q, SendBy: r.fan.SendBy(sent)}, nil)
	select {
	case <-q.decided:
	case <-r.lease.Context().Done():
		return nil, r.lease.End()
	case <-ctx.Done():
		return nil, renewal.ErrUnknown
	}
	if err := r.lease.End(); err != nil { // a majority counts only inside the deadline
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch q.outcome {
	case quorum.Won:
		return q, nil
	case quorum.Gone:
		// A renewal finds out how the lease was lost, and ends it.
		q.mu.Unlock()
		err := r.lease.Renew(ctx)
		q.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	return nil, &renewal.NoQuorumError{Answers: append([]nodescript.Answer(nil), q.answers...)}
}

// linger waits a moment for the missing answers. A load that has all answers often needs no write. The wait is as long
// as the majority took, so a sick minority at most doubles the time of a load.
func (r *Register) linger(ctx context.Context, q *question, took time.Duration) {
	timer := time.NewTimer(min(took, r.fan.Set().Window))
	defer timer.Stop()
	select {
	case <-q.all:
	case <-timer.C:
	case <-ctx.Done():
	}
}
