package waiting

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/check/nodemodel"
	"github.com/holdfast-go/holdfast/internal/core/kind"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
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
// first. On one processor the answer is there before the waiter sees the end of its context, unless the machine takes the
// processor away for 10 ms at this point. Without the check first, no world of the twenty gets the lock.
func TestALockThatIsWonAsItsContextEndsIsWon(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	refused := 0
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var answers atomic.Int32
			l, _ := hearing(t, func(m *nodemodel.Node) decides { return decides{m, &answers, cancel} })
			if g, r := l.Wait(ctx, kind.NewExclusive(nodescript.Lock{Name: "x"}), 10*time.Second, func(*Refusal) {}); r != nil || g.Token == 0 {
				t.Logf("a majority granted the lock, which the waiter was refused: %+v", r)
				refused++
			}
		})
	}
	if refused > 2 {
		t.Errorf("a majority granted the lock, which the waiter was refused, in %d of 20 worlds", refused)
	}
}
