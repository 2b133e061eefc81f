package waiting

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// lagging is a node that gets the questions of waiters late, on their own connection.
type lagging struct {
	*nodemodel.Node
	acquire string // the digest of acquire
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

// A question may reach a node after its owner's release. The release then found nothing in the queue. A claim for that
// owner would close the name on that node for a second.
func TestAQuestionThatComesAfterItsWaitIsOverLeavesNoClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, nodes := hearing(t, func(m *nodemodel.Node) *lagging { return &lagging{Node: m} })
		for i, n := range nodes {
			n.acquire = nodescript.NewScripts(l.Fan.Set(), n.Info.Run).SHA(nodescript.Acquire)
			if a := l.Fan.AskVotes(t.Context())[i]; a.Verdict != nodescript.Done || !l.Inbox.listens(i) {
				t.Fatalf("node %d does not vote, or is not heard: %+v", i, a)
			}
		}
		// Another client has the lock, and releases it at the end.
		lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
		other, stamp := l.taken(t, lock, 10*time.Second, nil)

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
		l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock.Lock(), other, stamp)}, nil)
		synctest.Wait()
		if !slices.Equal(handed, []int{0, 0, 0}) {
			t.Errorf("so often each node handed the name to a waiter that is gone: %v", handed)
		}
	})
}

// A hanging node never ran the question for a lock that the other nodes granted. So the client has nothing to take back
// when the node answers again.
func TestWhoWonOwesNothingToANodeThatWasNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, nodes := hearing(t, func(m *nodemodel.Node) *hanging { return &hanging{Node: m} })
		nodes[0].hangs.Store(true)
		const locks = 500
		for i := range locks {
			g, r := l.Wait(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: fmt.Sprint("x", i)}), 10*time.Second, func(*Refusal) {})
			if r != nil {
				t.Fatalf("two of three nodes are well, and x%d was refused: %+v", i, r)
			}
			time.Sleep(10 * time.Millisecond)
			if i%2 == 0 {
				g.End() // the lease is released before the node fails to answer the question
			}
		}
		asked := nodes[0].hung.Load()
		if asked == 0 {
			t.Fatal("no question came to the node before it was known to hang: the test does not show what it should")
		}
		nodes[0].hangs.Store(false)
		time.Sleep(10 * time.Second)
		if n := nodes[0].since.Load(); n > asked {
			t.Errorf("%d locks were got, the node got %d messages while it hung, and %d since", locks, asked, n)
		}
	})
}

// hanging is a node that answers nothing while it hangs, and never runs the calls of that time.
type hanging struct {
	*nodemodel.Node
	hangs       atomic.Bool
	hung, since atomic.Int64 // the number of messages while it hung, and the number of messages after that
}

// messages returns the number of messages in calls about locks. Each message has two keys.
func messages(calls []node.Call) (n int64) {
	for _, c := range calls {
		n += int64(len(c.Keys)) / 2
	}
	return n
}

func (n *hanging) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if !n.hangs.Load() {
		n.since.Add(messages(calls))
		return n.Node.EvalSHA(ctx, calls)
	}
	n.hung.Add(messages(calls))
	return nodemodel.Hung(ctx, calls)
}

func (n *hanging) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if !n.hangs.Load() {
		return n.Node.Eval(ctx, text, c, load...)
	}
	<-ctx.Done()
	return node.Reply{Err: ctx.Err()}
}
