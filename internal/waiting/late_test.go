package waiting

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// lagging is a node to which what waiters ask takes its time, on a connection of its own.
type lagging struct {
	*nodemodel.Node
	acquire string // the digest of its script
	lag     time.Duration
}

func (n *lagging) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	for _, c := range calls {
		waits := func(arg string) bool { return strings.HasPrefix(arg, "label~") }
		if c.SHA == n.acquire && slices.ContainsFunc(c.Args, waits) {
			time.Sleep(n.lag)
		}
	}
	return n.Node.EvalSHA(ctx, calls)
}

// A question may come to a node after the release of its owner, which then had nothing to take
// out of the queue. A claim for that owner would shut the name on that node for a second.
func TestAQuestionThatComesAfterItsWaitIsOverLeavesNoClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var nodes []*lagging
		l := three(t, func(i int, m *nodemodel.Node) node.Node {
			nodes = append(nodes, &lagging{Node: m})
			return nodes[i]
		})
		l.Inbox.open(t.Context())
		for i, n := range nodes {
			n.acquire = nodescript.NewScripts(l.Fan.Set(), n.Info.Run).SHA(nodescript.Acquire)
			if a := l.Fan.Hail(t.Context())[i]; a.Verdict != nodescript.Done || !l.Inbox.listens(i) {
				t.Fatalf("node %d does not vote, or is not heard: %+v", i, a)
			}
		}
		// Another client has the lock, and gives it back when all is over.
		lock := nodescript.Lock{Name: "x"}
		stamp, _, err := l.Fan.Stamp()
		if err != nil {
			t.Fatal(err)
		}
		other := nodescript.NewOwner("other", "client of its own", stamp, []byte("random"))
		l.Fan.Send(&fanout.Message{Call: nodescript.AcquireCall(lock, other, stamp, 10*time.Second)}, nil)
		synctest.Wait()

		nodes[0].lag = 50 * time.Millisecond
		b := l.bid(t)
		l.Inbox.expect(b)
		b.askAll()
		time.Sleep(10 * time.Millisecond)
		l.Inbox.forget(b)
		b.giveUp()
		time.Sleep(100 * time.Millisecond)
		handed := make([]int, len(nodes))
		for i, n := range nodes {
			defer n.Subscribe(nodescript.Inbox(l.Inbox.client), func(string) { handed[i]++ })()
		}
		l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock, other, stamp)}, nil)
		synctest.Wait()
		if !slices.Equal(handed, []int{0, 0, 0}) {
			t.Errorf("so often each node handed the name to a waiter that is gone: %v", handed)
		}
	})
}
