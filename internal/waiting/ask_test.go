package waiting

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

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
		l := three(t, func(_ int, m *nodemodel.Node) node.Node { return silent{m} })
		b := l.bid(t)
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

// Who waits asks again after a second. Where nodes take longer to answer that question is not to end the one
// before: nothing would ever be decided.
func TestTheNextQuestionWaitsForTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, models := voting(0, 0, 0)
		var nodes []node.Node
		for _, m := range models {
			nodes = append(nodes, slow{m})
		}
		l := met(t, locker(t, set, 3*askEvery, nodes...))
		l.Inbox.open(t.Context()) // or the first question were waited for
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, r := l.Wait(ctx, nodescript.Lock{Name: "x"}, 10*time.Second, func(*Refusal) {}); r != nil {
			t.Errorf("three slow nodes, a free lock, and it was not got: %+v", r)
		}
	})
}

// slow is a node whose answers take longer than a waiter to ask again.
type slow struct{ *nodemodel.Node }

func (n slow) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	defer time.Sleep(askEvery * 3 / 2)
	return n.Node.EvalSHA(ctx, calls)
}
