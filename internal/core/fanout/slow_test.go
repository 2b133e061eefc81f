package fanout

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// slowNode is a node whose answers to calls come late. Its answers to greetings come at once.
type slowNode struct {
	node.Node
	by      atomic.Int64 // ns
	greeted atomic.Int32
	reached chan string // the owners of renewals
}

func (n *slowNode) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if text == nodescript.HelloText() {
		n.greeted.Add(1)
	}
	return n.Node.Eval(ctx, text, c, load...)
}

func (n *slowNode) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	for _, c := range calls {
		for i := 0; i < len(c.Args); i += len(c.Args) * 2 / len(c.Keys) {
			select {
			case n.reached <- c.Args[i]:
			default: // the test does not read them
			}
		}
	}
	replies := n.Node.EvalSHA(ctx, calls)
	select {
	case <-ctx.Done():
		return nodemodel.Failed(calls, ctx.Err())
	case <-time.After(time.Duration(n.by.Load())):
	}
	return replies
}

// slowly runs test with a client of a node that answers calls after the time by.
func slowly(t *testing.T, by time.Duration, test func(t *testing.T, f *Fanout, n *slowNode)) {
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 1, MaxTTL: time.Minute, Window: 16 * time.Millisecond, Cluster: "test"}
		n := &slowNode{Node: nodemodel.Master("run", nodemodel.Now, set), reached: make(chan string, 1000)}
		f := New(Config{Nodes: []node.Node{n}, Set: set, Timeout: time.Second, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler)})
		defer f.Close(t.Context())
		for f.AskVotes(t.Context())[0].Verdict != nodescript.Done {
			time.Sleep(time.Second)
		}
		n.by.Store(int64(by))
		test(t, f, n)
	})
}

// renewSlowly sends a renewal of an owner without a lease.
func renewSlowly(f *Fanout, owner string, to Receiver) {
	stamp, sent := f.StampHeld()
	call := nodescript.ExtendCall(nodescript.Lock{Name: "x"}, owner, 1, stamp, 1, time.Minute, f.config.Set.Window)
	f.Send(&Message{Call: call, To: to, Until: sent.Add(time.Minute)}, nil)
}

type answersTo chan nodescript.Answer

func (a answersTo) Answered(_, _ int, answer nodescript.Answer) { a <- answer }

// If several answers come after the node timeout, the node is greeted once, and it gets the later renewals.
func TestSeveralLateAnswersCostOneGreeting(t *testing.T) {
	slowly(t, 5*time.Second, func(t *testing.T, f *Fanout, n *slowNode) {
		answers := make(answersTo, 10)
		before := n.greeted.Load()
		for range 6 {
			renewSlowly(f, "o", answers)
			time.Sleep(300 * time.Millisecond)
		}
		if got := n.greeted.Load() - before; got != 1 {
			t.Errorf("the node was greeted %d times; want once", got)
		}
		time.Sleep(10 * time.Second)
		for range 6 {
			if a := <-answers; a.Verdict != nodescript.Lost {
				t.Errorf("a renewal was answered %+v; want the node's answer", a)
			}
		}
	})
}

// A node whose answers suddenly take long gets every message soon: within a quarter of the time since it answered last.
func TestMessagesDoNotWaitForLateAnswers(t *testing.T) {
	slowly(t, 900*time.Millisecond, func(t *testing.T, f *Fanout, n *slowNode) {
		for began := f.Now(); f.Now().Sub(began) < 3*time.Second; {
			sent := f.Now()
			renewSlowly(f, nodescript.Micros(int64(sent)), nil)
			time.Sleep(time.Millisecond)
			synctest.Wait()
			for len(n.reached) > 0 {
				owner, at := <-n.reached, clock.Instant(0)
				for _, digit := range owner {
					at = 10*at + clock.Instant(digit-'0')
				}
				if waited := f.Now().Sub(at); waited > 250*time.Millisecond {
					t.Fatalf("a message waited for %s", waited)
				}
			}
		}
	})
}

// Renewals whose answers never come occupy no spare after the node timeout, and few pipelines hang at a time. When the
// node answers a later renewal, the others end, too: their connections are dead.
func TestRenewalsThatHangOccupyNoSpare(t *testing.T) {
	slowly(t, 0, func(t *testing.T, f *Fanout, n *slowNode) {
		n.by.Store(int64(time.Hour))
		for began := f.Now(); f.Now().Sub(began) < 50*time.Second; {
			renewSlowly(f, "o", nil)
			time.Sleep(20 * time.Millisecond)
		}
		s := f.senders[0]
		s.mu.Lock()
		if s.spares > 0 {
			t.Errorf("pipelines that hang occupy %d spares", s.spares)
		}
		if hang := len(s.hanging); hang < 4 || hang > 64 {
			t.Errorf("%d pipelines hang; want some, and at most 64", hang)
		}
		s.mu.Unlock()
		n.by.Store(0)
		answers := make(answersTo, 1)
		sent := f.Now()
		renewSlowly(f, "o", answers)
		<-answers
		synctest.Wait()
		if waited := f.Now().Sub(sent); waited > 15*time.Second {
			t.Errorf("a message waited for %s", waited)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.away > 0 {
			t.Errorf("%d workers wait for answers that never come", s.away)
		}
	})
}
