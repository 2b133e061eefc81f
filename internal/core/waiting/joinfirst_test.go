package waiting

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// busy is a node that records the owners in each pipeline. It answers no pipeline before free is closed.
type busy struct {
	*nodemodel.Node
	free chan struct{}

	mu     sync.Mutex
	pieces []string
}

func (n *busy) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	var owners []string
	for _, c := range calls {
		for _, arg := range c.Args {
			if owner, _, ok := strings.Cut(arg, "~"); ok {
				owners = append(owners, owner)
			}
		}
	}
	n.mu.Lock()
	n.pieces = append(n.pieces, strings.Join(owners, " "))
	n.mu.Unlock()
	select {
	case <-n.free:
	case <-ctx.Done():
	}
	return n.Node.EvalSHA(ctx, calls)
}

// The next waiter in the line of a process must be in every queue before the last holder's release arrives. The release
// hands the name on, and a later waiter would get the name on a node whose queue lacks the next waiter.
func TestTheNextInLineIsInTheQueueBeforeTheReleaseComes(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(l *Locker, b *bidder) // runs before the pass, which the fair client refuses
		after  func(b *bidder)
	}{
		{
			"its own question is on its way, on another connection",
			func(_ *Locker, b *bidder) { b.askAll() },
			func(*bidder) {},
		},
		{
			"another node hands over while the piece waits to be sent",
			func(l *Locker, _ *bidder) { // two pipelines occupy the two workers
				for range 2 {
					l.Fan.Send(&fanout.Message{Call: nodescript.QuitCall(nodescript.Lock{Name: "y"}, "other~")}, func(i int) bool { return i > 0 })
					time.Sleep(time.Millisecond)
				}
			},
			func(b *bidder) { b.handed(0) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var nodes []*busy
				free := make(chan struct{})
				l := three(t, func(_ int, m *nodemodel.Node) node.Node {
					nodes = append(nodes, &busy{Node: m, free: free})
					return nodes[len(nodes)-1]
				})
				l.Fair = true
				l.Inbox.open(t.Context())
				if l.Fan.AskVotes(t.Context()); !l.Inbox.isEnough() {
					t.Fatal("the inbox hears nothing")
				}
				b := l.bid(t)
				l.lines.enter(Want{Lock: b.lock}, b, 0)
				c.before(l, b)
				time.Sleep(time.Millisecond) // long enough for the use of a second connection
				synctest.Wait()
				l.Pass(b.lock, Won{Owner: "holder~"}, 1, 0, func(passed bool, _ time.Duration) {
					if passed {
						t.Error("passed although the client is fair")
					}
					l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(b.lock.(*nodescript.Exclusive).Lock(), "holder~", 1)}, nil)
				})
				synctest.Wait()
				c.after(b)
				close(free)
				time.Sleep(100 * time.Millisecond)
				for i, n := range nodes {
					n.mu.Lock()
					if !slices.Contains(n.pieces, "label holder") {
						t.Errorf("node %d got %q; want the question and the release in one piece", i, n.pieces)
					}
					n.mu.Unlock()
				}
				b.giveUp()
			})
		})
	}
}
