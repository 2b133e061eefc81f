package values

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/environment"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// link is a client's view of a node: a driver, and the network between them.
type link struct {
	*nodemodel.Node
	w   *World
	cut *atomic.Bool // the client is cut off: no message goes through
	off *atomic.Bool // the node is cut off: no message goes through

	mu  sync.Mutex
	rng *rand.Rand
}

var errCut = errors.New("the network is cut")

// Environment gives the client the time of the bubble.
func (l *link) Environment() environment.Sources {
	return environment.Sources{Clock: clock.Monotonic(), Random: rand.Uint64}
}

// Close implements [node.Node]. Other clients use the same node.
func (l *link) Close() {}

// draw draws the fate of a message: its time to the node and back, and whether the request or the answer is lost.
func (l *link) draw() (there, back time.Duration, lost, unheard bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	calm := l.w.calm.Load()
	trip := func() time.Duration {
		switch p := l.rng.IntN(60); {
		case calm || p > 10:
			return 200*time.Microsecond + time.Duration(l.rng.Int64N(int64(time.Millisecond)))
		case p == 0: // later than any stamp is accepted
			return time.Duration(l.rng.Int64N(int64(2 * ttl)))
		}
		return time.Duration(l.rng.Int64N(int64(window)))
	}
	return trip(), trip(), !calm && l.rng.IntN(25) == 0, !calm && l.rng.IntN(25) == 0
}

// travel carries a call to the node and its answer back. It returns an error if there is no answer.
func (l *link) travel(ctx context.Context, call func()) error {
	if l.cut.Load() || l.off.Load() {
		return node.NotSent(errCut)
	}
	there, back, lost, unheard := l.draw()
	done := make(chan struct{})
	go func() { // a request goes on although its client has stopped waiting for the answer
		time.Sleep(there)
		if !lost {
			call()
		}
		if time.Sleep(back); !lost && !unheard && !l.cut.Load() && !l.off.Load() {
			close(done)
		}
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// EvalSHA implements [node.Node].
func (l *link) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	var replies []node.Reply
	own := slices.Clone(calls) // the caller may reuse them
	for i := range own {
		own[i].Keys, own[i].Args = slices.Clone(own[i].Keys), slices.Clone(own[i].Args)
	}
	if err := l.travel(ctx, func() { replies = l.Node.EvalSHA(context.WithoutCancel(ctx), own) }); err != nil {
		return nodemodel.Failed(calls, err)
	}
	return replies
}

// Eval implements [node.Node].
func (l *link) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	var reply node.Reply
	if err := l.travel(ctx, func() { reply = l.Node.Eval(context.WithoutCancel(ctx), text, c, load...) }); err != nil {
		return node.Reply{Err: err}
	}
	return reply
}

// Listen implements [node.Node].
func (l *link) Listen(ctx context.Context, channel string, on func(string)) error {
	if l.cut.Load() || l.off.Load() {
		return errCut
	}
	return l.Node.Listen(ctx, channel, func(m string) {
		time.Sleep(300 * time.Microsecond)
		on(m)
	})
}
