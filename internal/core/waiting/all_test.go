package waiting

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// unhurried is a kind that takes a millisecond to make a question. In this time a client sends what it has.
type unhurried struct{ *nodescript.Exclusive }

func (k unhurried) Acquire(owner string, token int64, ttl time.Duration) nodescript.Call {
	time.Sleep(time.Millisecond)
	return k.Exclusive.Acquire(owner, token, ttl)
}

// batches counts the calls of a node's driver that contain a name with the prefix "several".
type batches struct {
	node.Node
	n *atomic.Int32
}

func (b batches) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	for _, c := range calls {
		if strings.Contains(strings.Join(c.Keys, " "), "several") {
			b.n.Add(1)
			break
		}
	}
	return b.Node.EvalSHA(ctx, calls)
}

// The questions about several names go to a node in one call of its driver, even if some of them come late.
func TestQuestionsAboutSeveralNamesGoTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, nodes := hearing(t, func(m *nodemodel.Node) batches { return batches{m, new(atomic.Int32)} })
		var locks []nodescript.Kind
		for i := range 10 {
			locks = append(locks, unhurried{nodescript.NewExclusive(nodescript.Lock{Name: fmt.Sprintf("several%d", i)})})
		}
		for what, ask := range map[string]func(context.Context, []nodescript.Kind, time.Duration) Several{"AskAll": l.AskAll, "TryAll": l.TryAll} {
			s := ask(t.Context(), locks, 5*time.Second)
			if s.Refusal != nil {
				t.Fatalf("%s: %+v", what, s.Refusal)
			}
			synctest.Wait()
			for i, b := range nodes {
				if n := b.n.Swap(0); n != 1 {
					t.Errorf("%s: %d calls of node %d, want 1", what, n, i)
				}
			}
			time.Sleep(10 * time.Second) // the leases end
		}
	})
}
