package waiting

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// decides is a node that ends a context just before it gives the deciding answer.
type decides struct {
	*nodemodel.Node
	answers *atomic.Int32
	end     context.CancelFunc
}

func (n decides) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	replies := n.Node.EvalSHA(ctx, calls)
	if n.answers.Add(1) == 2 { // the second of three answers decides
		n.end()
	}
	return replies
}

// If a lock is won at the moment at which the context ends, the caller gets the lock, because the result is checked
// first. On one processor the answer is there before the waiter sees the end of its context. A world in which the
// machine took the processor away at this point proves nothing, and another one takes its place.
func TestALockThatIsWonAsItsContextEndsIsWon(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for worlds, tries := 0, 0; worlds < 20; tries++ {
		if tries == 1000 {
			t.Fatal("the machine is too busy for this test")
		}
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var answers atomic.Int32
			var ended atomic.Pointer[clock.Instant] // nil until the second answer
			l, _ := hearing(t, func(m *nodemodel.Node) decides {
				return decides{m, &answers, func() { now := clock.Host(); ended.Store(&now); cancel() }}
			})
			g, r := l.Wait(ctx, nodescript.NewExclusive(nodescript.Lock{Name: "x"}), 10*time.Second, func(*Refusal) {})
			at := ended.Load()
			if at == nil {
				t.Logf("no second answer: %+v %+v", g, r)
				return
			}
			if clock.Host().Sub(*at) > 5*time.Millisecond {
				return
			}
			if worlds++; r != nil || g.Token == 0 {
				t.Errorf("a majority granted the lock, which the waiter was refused: %+v", r)
			}
		})
	}
}
