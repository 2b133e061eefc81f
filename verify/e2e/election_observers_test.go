package e2e

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// counting is a node that counts the calls about keys of a name.
type counting struct {
	node.Node
	about string
	calls *atomic.Int64
}

func (c counting) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	c.count(calls...)
	return c.Node.EvalSHA(ctx, calls)
}

func (c counting) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	c.count(call)
	return c.Node.Eval(ctx, text, call, load...)
}

func (c counting) count(calls ...node.Call) {
	for _, call := range calls {
		if strings.Contains(strings.Join(call.Keys, " "), c.about) {
			c.calls.Add(1)
		}
	}
}

// Leader and Observe show the leader and its value. They never show the value of an earlier term. All observers of a
// client together ask once a second.
func TestObserversSeeTheLeader(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client())
	var calls atomic.Int64
	watching := s.ready(s.client(func(c *holdfast.Config) {
		nodes, err := rueidisnode.Open(s.urls...)
		if err != nil {
			t.Fatal(err)
		}
		nodes[0] = counting{nodes[0], "{boss}", &calls}
		c.Nodes = nodes
	}))
	publish := make(chan string)
	e := election.New(c, "boss", election.ResignPause(0))
	terms := make(chan election.Term, 1)
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(done)
		_ = e.Run(ctx, func(ctx context.Context, term election.Term) error {
			terms <- term
			for {
				select {
				case v := <-publish:
					if err := term.Publish(ctx, []byte(v)); err != nil {
						t.Error(err)
					}
					publish <- v
				case <-ctx.Done():
					return nil
				}
			}
		})
	}()
	defer func() { cancel(); <-done }()
	first := <-terms
	began := time.Now()
	const observers = 50
	var seen [observers]<-chan election.News
	for i := range seen {
		seen[i] = election.New(watching, "boss").Observe(t.Context())
	}
	hears := func(what string, ok func(election.News) bool) {
		t.Helper()
		for i := range seen {
			for o := range seen[i] {
				if o.Err != nil || o.Term != 0 && o.Term < first.Fence {
					t.Fatalf("observer %d heard %v", i, o)
				}
				if ok(o) {
					break
				}
			}
		}
		l, err := election.New(watching, "boss").Leader(t.Context())
		if o := (election.News{Leader: l}); err != nil || !ok(o) {
			t.Fatalf("%s: Leader returned %v %q, %v", what, l, l.Value, err)
		}
	}
	hears("the first term", func(o election.News) bool { return o.Term == first.Fence && o.Value == nil })
	for _, v := range []string{"one", ""} {
		publish <- v
		<-publish
		hears(v, func(o election.News) bool {
			return o.Term == first.Fence && o.Value != nil && string(o.Value) == v
		})
	}
	publish <- "last"
	<-publish
	if err := e.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := <-terms
	hears("the second term", func(o election.News) bool {
		if o.Term == second.Fence && o.Value != nil {
			t.Fatalf("term %d is shown with the value %q of term %d", o.Term, o.Value, first.Fence)
		}
		return o.Term == second.Fence
	})
	// A look of an observer makes two calls: one for the leader and one for its value. Each of the four calls of Leader
	// makes two calls, too.
	looks := int64(time.Since(began)/time.Second) + 1
	if n := calls.Load(); n > 2*looks+2*4 || n < 2*4 {
		t.Errorf("%d observers and 4 calls of Leader made %d calls in %d s", observers, n, looks)
	}
}
