package fanout

import (
	"context"
	"log/slog"
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

// pieces records the number of calls in each pipeline to a node.
type pieces struct {
	node.Node
	mu   sync.Mutex
	list []int
}

func (p *pieces) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	p.mu.Lock()
	p.list = append(p.list, len(calls))
	p.mu.Unlock()
	return p.Node.EvalSHA(ctx, calls)
}

// A waiter joins the queues before the next release hands the lock on. Without Together, two workers would take one
// message each, and send them on two connections.
func TestWhatIsSentTogetherGoesInOnePiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 1, MaxTTL: 80 * time.Millisecond, Window: 10 * time.Millisecond, Cluster: "test"}
		p := &pieces{Node: nodemodel.Master("run", nodemodel.Now, set)}
		f := New(Config{Nodes: []node.Node{p}, Set: set, Timeout: time.Second, Clock: clock.Monotonic(), Random: func() uint64 { return 1 }, Logger: slog.New(slog.DiscardHandler)})
		defer f.Close(t.Context())
		for start := time.Now(); f.AskVotes(t.Context())[0].Verdict != nodescript.Done; time.Sleep(10 * time.Millisecond) {
			if time.Since(start) > 10*time.Second {
				t.Fatalf("the node does not vote: %+v", f.AskVotes(t.Context())[0])
			}
		}
		lock := nodescript.Lock{Name: "x"}
		both := func() {
			p.mu.Lock()
			p.list = nil
			p.mu.Unlock()
			f.Send(&Message{Call: nodescript.QuitCall(lock, "b")}, nil)
			time.Sleep(5 * time.Millisecond) // the workers are idle, and would take the message at once
			f.Send(&Message{Call: nodescript.ReleaseCall(lock, "a", 1)}, nil)
		}
		want := func(list ...int) {
			t.Helper()
			time.Sleep(time.Second)
			p.mu.Lock()
			defer p.mu.Unlock()
			if !slices.Equal(p.list, list) {
				t.Errorf("pipelines of %v calls; want %v", p.list, list)
			}
		}
		f.Together(both)
		want(2)
		both()
		want(1, 1)
	})
}
