package waiting

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/holdfast-go/holdfast/internal/nodemodel"
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
