package nodetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// unanswered makes a call that cannot get an answer. The call must end with its context.
func unanswered(t *testing.T, n node.Node, c node.Call) {
	t.Helper()
	begin := time.Now()
	r := batch(t, within(t, short), n, c)[0]
	if took := time.Since(begin); took > short+grace {
		t.Errorf("returned after %v, deadline %v", took, short)
	}
	if !errors.Is(r.Err, context.DeadlineExceeded) {
		t.Errorf("%q, %v; want the deadline", r.Value, r.Err)
	}
}

// recovers waits until the node answers again: with the error code, or without an error if code is "".
func recovers(t *testing.T, n node.Node, c node.Call, code string) {
	t.Helper()
	var last error
	defer func() {
		if t.Failed() {
			t.Log("last error:", last)
		}
	}()
	redistest.Eventually(t, patience, "the node works again", func() bool {
		last = batch(t, within(t, time.Second), n, c)[0].Err
		return (code == "" && last == nil) || (code != "" && node.Code(last) == code)
	})
}

func (s suite) refusedConnectionIsUnsent(t *testing.T) {
	server, n := s.start(t)
	server.Kill()
	r := one(t, n, call(echo))
	if !errors.Is(r.Err, syscall.ECONNREFUSED) || !node.Unsent(r.Err) || node.Reason(r.Err) != "connection refused" {
		t.Errorf("%v: unsent %v, reason %q", r.Err, node.Unsent(r.Err), node.Reason(r.Err))
	}
	if r := n.Eval(within(t, patience), echo, node.Call{}, echo); !errors.Is(r.Err, syscall.ECONNREFUSED) {
		t.Errorf("with a load: %v", r.Err)
	}
	if err := n.Listen(within(t, patience), "c", func(string) {}); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("listen: %v", err)
	}
}

func (s suite) dialThatHangs(t *testing.T) {
	n := s.node(t, "redis://"+redistest.DeadEnd(t))
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { unanswered(t, n, call(echo)) })
	}
	wg.Wait()
	begin := time.Now()
	if err := n.Listen(within(t, short), "c", func(string) {}); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > short+grace {
		t.Errorf("listen: %v after %v", err, time.Since(begin))
	}
	begin = time.Now()
	n.Close()
	if took := time.Since(begin); took > grace {
		t.Errorf("Close took %v", took)
	}
}

func (s suite) frozenServer(t *testing.T) {
	server, n := s.start(t)
	load(t, n, echo)
	server.Freeze()
	unanswered(t, n, call(echo, "a"))
	begin := time.Now()
	if r := n.Eval(within(t, short), echo, node.Call{}, echo); !errors.Is(r.Err, context.DeadlineExceeded) || time.Since(begin) > short+grace {
		t.Errorf("with a load: %v after %v", r.Err, time.Since(begin))
	}
	server.Thaw()
	recovers(t, n, call(echo, "b"), "")
}

func (s suite) frozenFromTheFirstCall(t *testing.T) {
	server, n := s.start(t)
	server.Freeze()
	// Make two calls at the same time, so that the second one waits for the connection that the first one opens.
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { unanswered(t, n, call(echo, "a")) })
	}
	wg.Wait()
	server.Thaw()
	recovers(t, n, call(echo, "b"), node.NoScript)
}

func (s suite) frozenWhileMuchIsWritten(t *testing.T) {
	server, n := s.start(t)
	load(t, n, echo)
	server.Freeze()
	unanswered(t, n, call(echo, strings.Repeat("x", 32<<20))) // more than the sockets can buffer
	unanswered(t, n, call(echo, "behind it"))
	server.Thaw()
	recovers(t, n, call(echo, "b"), "")
}

// frozenUnderManyCalls makes many calls that wait or are given up. They must not keep resources that other calls need
// to return in time.
func (s suite) frozenUnderManyCalls(t *testing.T) {
	server, n := s.start(t)
	load(t, n, echo)
	server.Freeze()
	var wg sync.WaitGroup
	patient, cancel := context.WithCancel(t.Context())
	var begun atomic.Int32
	for range 1000 {
		wg.Go(func() {
			begun.Add(1)
			n.EvalSHA(patient, []node.Call{call(echo, "a")})
		})
	}
	redistest.Eventually(t, patience, "all wait", func() bool { return begun.Load() == 1000 })
	unanswered(t, n, call(echo, "a"))
	cancel()
	wg.Wait()
	for range 16 {
		wg.Go(func() {
			for range 100 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				begin := time.Now()
				n.EvalSHA(ctx, []node.Call{call(echo, "a")})
				if took := time.Since(begin); took > grace {
					t.Errorf("returned after %v, deadline 1ms", took)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	unanswered(t, n, call(echo, "a"))
	server.Thaw()
	recovers(t, n, call(echo, "b"), "")
}

// maxCallsAreSentAtOnce checks that MaxCalls calls are all sent, although none of them gets an answer.
func (s suite) maxCallsAreSentAtOnce(t *testing.T) {
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	n := s.node(t, proxy.URL())
	load(t, n, echo)
	var sent atomic.Int32
	proxy.Treat(func(command []string) redistest.Treatment {
		if !strings.EqualFold(command[0], "EVALSHA") {
			return redistest.Treatment{}
		}
		sent.Add(1)
		return redistest.Treatment{Delay: time.Hour} // so the server answers none of these calls
	})
	// The context has a deadline, because a driver itself gives up a call without one.
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range node.MaxCalls {
		wg.Go(func() { n.EvalSHA(ctx, []node.Call{call(echo, "a")}) })
	}
	redistest.Eventually(t, patience, fmt.Sprintf("%d calls are sent", node.MaxCalls), func() bool { return sent.Load() == node.MaxCalls })
}

func (s suite) blackHoleFromTheFirstCall(t *testing.T) {
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	n := s.node(t, proxy.URL())
	proxy.BlackHole(true)
	unanswered(t, n, call(echo, "a"))
	proxy.BlackHole(false)
	recovers(t, n, call(echo, "b"), node.NoScript)
}

// hungConnectionIsReplaced uses a network that drops all packets of the existing connections, and works for new ones.
// This happens when an address moves to another machine. Nothing closes the old connections then.
func (s suite) hungConnectionIsReplaced(t *testing.T) {
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	n := s.node(t, proxy.URL())
	load(t, n, echo)
	proxy.StallExisting()
	unanswered(t, n, call(echo, "a"))
	recovers(t, n, call(echo, "b"), "")
}

func (s suite) killedAndRestarted(t *testing.T) {
	server, n := s.start(t)
	load(t, n, echo)
	server.Restart()
	recovers(t, n, call(echo, "b"), node.NoScript)
	load(t, n, echo)
	if r := one(t, n, call(echo, "c")); r.Value != "c" {
		t.Errorf("after loading again: %v", r)
	}
}

func (s suite) lostReplyIsNotRepeated(t *testing.T) {
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	n := s.node(t, proxy.URL())
	load(t, n, count)
	for how, lose := range map[string]func(){
		"swallowed": func() {},
		"cut":       func() { proxy.Cut(true) },
		"broken":    func() { proxy.DropReplies(false) }, // a driver that repeats the call would now succeed
	} {
		server.MustDo(t, "DEL", "k")
		proxy.DropReplies(true)
		dropped := proxy.Lost()
		lost := make(chan error, 1)
		go func() { lost <- n.EvalSHA(within(t, grace), []node.Call{call(count)})[0].Err }()
		redistest.Eventually(t, patience, "the call is executed and its reply lost", func() bool {
			return server.MustDo(t, "GET", "k") == "1" && proxy.Lost() > dropped
		})
		lose()
		if err := <-lost; err == nil || node.Unsent(err) {
			t.Errorf("reply %s: %v, unsent %v", how, err, node.Unsent(err))
		}
		proxy.Cut(false)
		proxy.DropReplies(false)
		recovers(t, n, call(`return 'unknown'`), node.NoScript)
		if got := server.MustDo(t, "GET", "k"); got != "1" {
			t.Errorf("reply %s: executed %v times", how, got)
		}
	}
}

func (s suite) cancelledCallReturns(t *testing.T) {
	server, n := s.start(t)
	load(t, n, echo)
	server.Freeze()
	reason := errors.New("not wanted any more")
	// The first node has a connection, and the second one has none yet.
	for _, node := range []node.Node{n, s.node(t, server.URL())} {
		ctx, cancel := context.WithCancelCause(t.Context()) // this context has no deadline
		end := make(chan error, 1)
		go func() { end <- batch(t, ctx, node, call(echo))[0].Err }()
		time.AfterFunc(50*time.Millisecond, func() { cancel(reason) })
		select {
		case err := <-end:
			if !errors.Is(err, context.Canceled) || !errors.Is(err, reason) {
				t.Errorf("%v; want the cancellation and its cause", err)
			}
		case <-time.After(grace):
			t.Error("does not return")
		}
	}
}

func (s suite) deadContextSendsNothing(t *testing.T) {
	_, n := s.start(t)
	load(t, n, count)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range map[string]error{
		"EvalSHA": batch(t, ctx, n, call(count))[0].Err,
		"Eval":    n.Eval(ctx, count, call(count)).Err,
		"Listen":  n.Listen(ctx, "c", func(string) { t.Error("listening") }),
	} {
		if !errors.Is(err, context.Canceled) || !node.Unsent(err) {
			t.Errorf("%s: %v, unsent %v", what, err, node.Unsent(err))
		}
	}
	if r := one(t, n, call(count)); r.Value != "1" {
		t.Errorf("the calls were executed: %v", r)
	}
}

func (s suite) closedNode(t *testing.T) {
	server, n := s.start(t)
	load(t, n, count)
	server.Freeze()
	inFlight := make(chan error, 1)
	go func() { inFlight <- batch(t, within(t, patience), n, call(count))[0].Err }()
	time.AfterFunc(50*time.Millisecond, n.Close)
	select {
	case err := <-inFlight:
		if err == nil || node.Unsent(err) {
			t.Errorf("in flight: %v, unsent %v", err, node.Unsent(err))
		}
	case <-time.After(grace):
		t.Error("a call in flight does not return")
	}
	n.Close() // Close may be called twice
	for what, err := range map[string]error{
		"EvalSHA": batch(t, t.Context(), n, call(count))[0].Err,
		"Eval":    n.Eval(t.Context(), count, call(count), echo).Err,
		"Listen":  n.Listen(t.Context(), "c", func(string) {}),
	} {
		if !errors.Is(err, node.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
	unopened := s.node(t, server.URL())
	unopened.Close()
	if r := batch(t, t.Context(), unopened, call(count))[0]; !errors.Is(r.Err, node.ErrClosed) {
		t.Errorf("closed before it was used: %v", r.Err)
	}
}
