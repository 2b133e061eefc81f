package fanout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// fleet is a set of nodes that vote. A test can move their clocks together, and can make the nodes refuse a greeting.
type fleet struct {
	*Fanout
	set    nodescript.Config
	ahead  atomic.Int64 // how far all clocks are ahead, in µs
	models []*nodemodel.Node
	eval   atomic.Pointer[func(ctx context.Context, admits bool) error] // the answer to EVAL; nil: the usual answer
	first  atomic.Pointer[func(ctx context.Context, text string) error] // the error of an EVAL at the first node; nil: none
	asked  atomic.Int64                                                 // the number of calls by digest
	piped  atomic.Int64                                                 // the number of pipelines with calls by digest
	takes  atomic.Int64                                                 // the time that a call by digest takes, in ns
	delay  atomic.Int64                                                 // the delay of the process, in ns
}

// met is a node of a fleet.
type met struct {
	node.Node
	f *fleet
}

func (n met) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if how := n.f.eval.Load(); how != nil {
		if err := (*how)(ctx, text != nodescript.HelloText() && text != nodescript.PeersText()); err != nil {
			return node.Reply{Err: err}
		}
	}
	if how := n.f.first.Load(); how != nil && n.Addr() == "run0" {
		if err := (*how)(ctx, text); err != nil {
			return node.Reply{Err: err}
		}
	}
	return n.Node.Eval(ctx, text, c, load...)
}

func (n met) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	n.f.asked.Add(int64(len(calls)))
	n.f.piped.Add(1)
	if takes := n.f.takes.Load(); takes > 0 {
		select {
		case <-time.After(time.Duration(takes)):
		case <-ctx.Done():
			return nodemodel.Failed(calls, ctx.Err())
		}
	}
	return n.Node.EvalSHA(ctx, calls)
}

func newFleet(t *testing.T) *fleet { return newFleetOf(t, 3) }

func newFleetOf(t *testing.T, n int) *fleet { return newFleetWithin(t, n, time.Second) }

// newFleetWithin returns a fleet whose nodes must answer within a timeout.
func newFleetWithin(t *testing.T, n int, timeout time.Duration) *fleet {
	f := &fleet{set: nodescript.Config{N: n, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "test"}}
	now := func() int64 { return nodemodel.Now() + f.ahead.Load() }
	var nodes []node.Node
	for i := range f.set.N {
		run := fmt.Sprint("run", i)
		m := nodemodel.Master(run, now, f.set)
		m.Serve()
		f.models = append(f.models, m)
		nodes = append(nodes, met{m, f})
	}
	f.Fanout = New(Config{
		Nodes: nodes, Set: f.set, Timeout: timeout, Clock: clock.Monotonic(), Random: func() uint64 { return 1 }, Logger: slog.New(slog.DiscardHandler),
		Delay:       func() time.Duration { return time.Duration(f.delay.Load()) },
		VoteChanged: func(int, nodescript.Answer, time.Duration) {}, // verify/locks sees under which mutexes it is called
	})
	f.AskVotes(t.Context())
	time.Sleep(time.Second)
	for i, a := range f.AskVotes(t.Context()) {
		if a.Verdict != nodescript.Done {
			t.Fatalf("node %d: %+v", i, a)
		}
	}
	return f
}

// answers sends a call to all nodes and returns their answers.
func (f *fleet) answers(c nodescript.Call) []nodescript.Answer {
	r := newCollector(f.N())
	f.Send(&Message{Call: c, To: r}, nil)
	<-r.done
	return r.answers
}

// lock takes a name on all nodes.
func (f *fleet) lock(t *testing.T) (owner string, stamp int64) {
	t.Helper()
	stamp, _, err := f.Stamp()
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range f.answers(nodescript.AcquireCall(lockX, "owner", stamp, f.set.MaxTTL)) {
		if a.Verdict != nodescript.Granted {
			t.Fatalf("node %d: %+v", i, a)
		}
	}
	return "owner", stamp
}

var lockX = nodescript.Lock{Name: "x"}

// moved moves the clocks of the fleet ahead by a minute, and lets the client learn of the move.
func (f *fleet) moved(t *testing.T) {
	f.ahead.Store(time.Minute.Microseconds())
	for range 2 {
		f.AskVotes(t.Context())
		time.Sleep(100 * time.Millisecond)
	}
	if _, _, err := f.Stamp(); err == nil {
		t.Fatal("the client did not notice that the clocks moved")
	}
}

func (f *fleet) answer(err error) {
	how := func(context.Context, bool) error { return err }
	f.eval.Store(&how)
}

// Releases and quits need no vote. Every node that answers gets them, no matter what it answers.
func TestAReleasePassesTheDoorOfEveryNodeThatAnswers(t *testing.T) {
	for name, shut := range map[string]func(t *testing.T, f *fleet){
		"clocks moved": func(t *testing.T, f *fleet) { f.moved(t) },
		"clocks moved, connections broken": func(t *testing.T, f *fleet) {
			f.moved(t)
			for _, s := range f.voters {
				s.broke(errors.New("connection lost"))
			}
			// The call causes a new greeting.
			f.answers(nodescript.ExtendCall(lockX, "somebody", 1, 1, 1, time.Second, f.set.Window))
		},
		"clocks moved, scripts gone": func(t *testing.T, f *fleet) {
			f.moved(t)
			for _, m := range f.models {
				m.ScriptFlush()
			}
			f.answers(nodescript.ExtendCall(lockX, "somebody", 1, 1, 1, time.Second, f.set.Window))
		},
		"an error of the server": func(t *testing.T, f *fleet) {
			for _, s := range f.voters {
				s.broke(errors.New("connection lost"))
			}
			how := func(_ context.Context, admits bool) error {
				if admits {
					return node.ServerError("OOM command not allowed when used memory > 'maxmemory'.")
				}
				return nil
			}
			f.eval.Store(&how)
			f.answers(nodescript.ExtendCall(lockX, "somebody", 1, 1, 1, time.Second, f.set.Window))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				defer f.Close(t.Context())
				owner, stamp := f.lock(t)
				shut(t, f)
				for i, a := range f.answers(nodescript.ReleaseCall(lockX, owner, stamp)) {
					if a.Verdict != nodescript.Done {
						t.Errorf("node %d answers, and the release is answered %+v", i, a)
					}
				}
			})
		})
	}
}

// A release to a node that was not reached a moment ago would only cost another try, and the time of the caller that
// releases.
func TestAReleaseIsNotSentToANodeThatWasNotReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		defer f.Close(t.Context())
		owner, stamp := f.lock(t)
		for _, s := range f.voters {
			s.broke(errors.New("connection lost"))
		}
		f.answer(errors.New("connection lost"))
		f.answers(nodescript.ExtendCall(lockX, "somebody", 1, 1, 1, time.Second, f.set.Window))
		before := f.asked.Load()
		for i, a := range f.answers(nodescript.ReleaseCall(lockX, owner, stamp)) {
			if a.Verdict != nodescript.Failed {
				t.Errorf("node %d: %+v", i, a)
			}
		}
		if n := f.asked.Load() - before; n != 0 {
			t.Errorf("%d calls were sent", n)
		}
	})
}

// A caller looks at the nodes in a bad moment. Calls still go to the nodes as if there were no look.
func TestALookAtANodeThatVotesKeepsNothingFromIt(t *testing.T) {
	refused := func(err error) func(*fleet) func() {
		return func(f *fleet) func() { f.answer(err); return func() { f.eval.Store(nil) } }
	}
	for name, bad := range map[string]func(f *fleet) (well func()){
		"a clock is wrong": func(f *fleet) func() {
			f.ahead.Store(-time.Minute.Microseconds())
			return func() { f.ahead.Store(0) }
		},
		"the server refuses": refused(node.ServerError("NOPERM this user has no permissions to run the 'eval' command")),
		"it takes long": func(f *fleet) func() {
			how := func(ctx context.Context, _ bool) error { <-ctx.Done(); return node.ServerError("BUSY") }
			f.eval.Store(&how)
			return func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				defer f.Close(t.Context())
				owner, stamp := f.lock(t)
				well := bad(f)
				looked := make(chan struct{})
				go func() { defer close(looked); f.AskVotes(t.Context()) }()
				synctest.Wait()
				well()
				renewal, sent := f.StampHeld()
				for i, a := range f.answers(nodescript.ExtendCall(lockX, owner, stamp, renewal, renewal, f.set.MaxTTL, f.set.Window)) {
					if took := f.Now().Sub(sent); a.Verdict != nodescript.Extended || took > 100*time.Millisecond {
						t.Errorf("node %d: a renewal is answered %+v after %s", i, a, took)
					}
				}
				<-looked
			})
		})
	}
}

// If Doubt is called while the client asks a node, the client meets the node again, no matter what the node answers.
// The connection may have broken after the answer.
func TestADoubtOutlivesTheAnswerThatItMeets(t *testing.T) {
	for name, asked := range map[string]func(s *voter){
		"by the way": func(s *voter) { s.askVote() },
		"for a call": func(s *voter) { s.forgot(); s.admitted() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				defer f.Close(t.Context())
				s, admitted := f.voters[0], 0
				how := func(_ context.Context, admits bool) error {
					if admits {
						if admitted++; admitted == 1 {
							s.broke(errors.New("connection lost"))
						}
					}
					return nil
				}
				f.eval.Store(&how)
				asked(s)
				if s.admitted(); admitted != 2 {
					t.Errorf("admitted %d times; want it anew after it was doubted", admitted)
				}
			})
		})
	}
}
