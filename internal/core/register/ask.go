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

// question is one call to all nodes. It receives the answers to that call.
type question struct {
	mu      sync.Mutex
	answers []nodescript.Answer // by node
	left    int
	outcome quorum.Outcome
	take    func(node int, a nodescript.Answer) quorum.Outcome // counts one answer and returns the outcome so far; called with mu held
	decided chan struct{}                                      // closes when outcome is not Open any more
	all     chan struct{}                                      // closes when all nodes have answered
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

// ask sends a call to all nodes, and waits until take returns an outcome other than Open. It returns an error if there
// is no majority, or if the lease has ended. It returns [renewal.ErrUnknown] if ctx ended first.
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
	if err := r.lease.End(); err != nil { // an outcome after the deadline of the lease does not count
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch q.outcome {
	case quorum.Won:
		return q, nil
	case quorum.Gone:
		// A renewal finds out how the lease was lost, and ends the lease.
		q.mu.Unlock()
		err := r.lease.Renew(ctx)
		q.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	return nil, &renewal.NoQuorumError{Answers: append([]nodescript.Answer(nil), q.answers...)}
}

// linger waits a short time for the missing answers. If all nodes have answered, a load often needs no write. linger
// waits as long as the majority took. So if a minority of nodes is slow, a load takes at most twice as long.
func (r *Register) linger(ctx context.Context, q *question, took time.Duration) {
	timer := time.NewTimer(min(took, r.fan.Set().Window))
	defer timer.Stop()
	select {
	case <-q.all:
	case <-timer.C:
	case <-ctx.Done():
	}
}
