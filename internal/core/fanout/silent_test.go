package fanout

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// lapse is a node that answers some calls wrongly, and records its calls.
type lapse struct {
	node.Node

	mu   sync.Mutex
	how  func(ctx context.Context) error // nil: the node answers as usual
	what []string
}

// notes records a call. It returns the function that decides the answer.
func (n *lapse) notes(what string) func(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.what = append(n.what, what)
	return n.how
}

// from sets the function that decides the answers from now on.
func (n *lapse) from(how func(ctx context.Context) error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.how, n.what = how, nil
}

func (n *lapse) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	n.notes("greeted")
	return n.Node.Eval(ctx, text, c, load...)
}

func (n *lapse) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	how := n.notes("asked")
	if how == nil {
		return n.Node.EvalSHA(ctx, calls)
	}
	err := how(ctx)
	return nodemodel.Failed(calls, err)
}

// After a moment without an answer another server may be behind an address. A server that was a replica in that moment
// has another server's memory, although its run id and its scripts are the same.
func TestANodeThatFailedIsGreetedBeforeItIsAskedAgain(t *testing.T) {
	for _, c := range []struct {
		what string
		how  func(ctx context.Context) error
	}{
		{"the connection broke", func(context.Context) error { return errors.New("connection lost") }},
		{"nothing came in time", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
		{"it was a replica", func(context.Context) error { return &node.Error{Code: node.ReadOnly} }},
		{"it was loading", func(context.Context) error { return &node.Error{Code: node.Loading} }},
		{"its master was down", func(context.Context) error { return &node.Error{Code: node.MasterDown} }},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := nodescript.Config{N: 1, MaxTTL: 80 * time.Millisecond, Window: 10 * time.Millisecond, Cluster: "test"}
				n := &lapse{Node: nodemodel.Master("run", nodemodel.Now, set)}
				f := New(Config{Nodes: []node.Node{n}, Set: set, Timeout: time.Second, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler)})
				defer f.Close(t.Context())
				for f.AskVotes(t.Context())[0].Verdict != nodescript.Done {
					time.Sleep(10 * time.Millisecond)
				}
				ask := func() {
					f.Send(&Message{Call: nodescript.ExtendCall(nodescript.Lock{Name: "x"}, "o", 1, 1, 1, time.Second, set.Window)}, nil)
					time.Sleep(2 * time.Second)
				}
				ask()
				n.from(c.how)
				ask()
				n.from(nil)
				ask()
				n.mu.Lock()
				defer n.mu.Unlock()
				if slices.Index(n.what, "greeted") != 0 || !slices.Contains(n.what, "asked") {
					t.Errorf("after %s: %q; want it greeted, then asked", c.what, n.what)
				}
			})
		})
	}
}
