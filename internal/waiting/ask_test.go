package waiting

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// silent is a node that says who it is, and what time it is, and nothing more.
type silent struct{ *nodemodel.Node }

func (n silent) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	<-ctx.Done()
	replies := make([]node.Reply, len(calls))
	for i := range replies {
		replies[i].Err = ctx.Err()
	}
	return replies
}

// A client's first wait asks before it subscribes. Another wait of the client may have
// subscribed meanwhile; then one node's hand-off begins a question to that node alone, which
// nothing decides. The waiter took it for its own, and never asked again.
func TestTheFirstQuestionEndsWhenANodeHandsTheNameOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "test"}
		micros := func() int64 { return time.Now().Add(30 * 365 * 24 * time.Hour).UnixMicro() }
		var nodes []node.Node
		for i := range set.N {
			run := fmt.Sprintf("run%d", i)
			m := nodemodel.New(run, micros, nodemodel.Info{Run: run, Role: "master", Policy: "noeviction", Version: "model"}, set)
			m.Set(nodescript.GuardKey, set.String()+" "+run, 0)
			m.HSet(nodescript.AdmissionKey, "run", run)
			m.HSet(nodescript.AdmissionKey, "config", set.String())
			m.HSet(nodescript.AdmissionKey, "evicted", "0")
			nodes = append(nodes, silent{m})
		}
		fan := fanout.New(fanout.Config{
			Nodes: nodes, Set: set, Timeout: time.Second, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler),
		})
		defer fan.Close(t.Context())
		l := &Locker{
			Fan: fan, RetryDelay: time.Second, Stop: make(chan struct{}), Inbox: NewInbox(fan, "client"),
			NewOwner: func(ticket int64) string { return nodescript.NewOwner("label", "client", ticket, []byte("random")) },
		}
		if answers := fan.Settle(t.Context()); answers != nil {
			t.Fatalf("no stamps: %+v", answers)
		}
		var ticket int64
		b, err := l.waiter(nodescript.Lock{Name: "x"}, 10*time.Second, &ticket)
		if err != nil {
			t.Fatal(err)
		}
		asked := make(chan struct{})
		go func() {
			l.ask(t.Context(), b)
			close(asked)
		}()
		synctest.Wait() // the question is under way
		b.handed(0)
		synctest.Wait()
		select {
		case <-asked:
		default:
			t.Error("the waiter waits for one node to decide")
		}
		if !b.handing() {
			t.Error("what the node offered is given up")
		}
		b.giveUp()
	})
}
