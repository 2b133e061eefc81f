package waiting

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// far is a node at the end of a long line.
type far struct {
	node.Node
	way time.Duration
}

func (n far) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	time.Sleep(n.way)
	defer time.Sleep(n.way)
	return n.Node.EvalSHA(ctx, calls)
}

// A job that is started on two machines in the same instant, each nearer to another node, is to run on one of
// them: also while the third node hangs, which might have voted for either.
func TestOneOfTwoThatTryAtOnceGetsTheLockWhileANodeHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, models := voting(0, 0, 0)
		hung := &hanging{Node: models[2]}
		client := func(ways ...time.Duration) *Locker {
			l := met(t, locker(t, set, 100*time.Millisecond, far{models[0], ways[0]}, far{models[1], ways[1]}, hung))
			l.Fan.Hail(t.Context())
			return l
		}
		both := []*Locker{client(time.Millisecond, 5*time.Millisecond), client(5*time.Millisecond, time.Millisecond)}
		hung.hangs.Store(true)
		for _, l := range both { // both know it
			for range 3 {
				l.Try(t.Context(), nodescript.Lock{Name: "other"}, time.Second)
			}
		}
		neither := 0
		for range 20 {
			got := make(chan bool, len(both))
			for _, l := range both {
				go func() {
					_, r := l.Try(t.Context(), nodescript.Lock{Name: "x"}, 2*time.Second)
					got <- r == nil
				}()
			}
			switch a, b := <-got, <-got; {
			case a && b:
				t.Fatal("both have it")
			case !a && !b:
				neither++
			}
			time.Sleep(10 * time.Second)
		}
		if neither > 0 {
			t.Errorf("of 20 times nobody got it %d times", neither)
		}
	})
}
