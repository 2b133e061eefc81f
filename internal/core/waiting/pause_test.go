package waiting

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// timed records the times at which a waiter asked for each name.
type timed struct {
	*nodemodel.Node
	mu    sync.Mutex
	asked map[string][]time.Time
}

func (n *timed) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	n.mu.Lock()
	for _, c := range calls {
		if len(c.Args) == 4 && len(c.Args[2]) == 16 { // the call is an acquire with a ticket
			n.asked[c.Keys[0]] = append(n.asked[c.Keys[0]], time.Now())
		}
	}
	n.mu.Unlock()
	return n.Node.EvalSHA(ctx, calls)
}

// Waiters that came together must not ask together for ever, so one of their pauses is a random part of a second. The
// first pause is not random, because most waits end within a second. If the first pause were random, each hand-off
// would cost every node unnecessary questions of hundreds of waiters.
func TestTheFirstPauseOfAWaiterIsAWholeSecondAndTheSecondARandomPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, nodes := hearing(t, func(m *nodemodel.Node) *timed { return &timed{Node: m, asked: map[string][]time.Time{}} })
		const waiters = 50
		var wait sync.WaitGroup
		for i := range waiters {
			lock := nodescript.NewExclusive(nodescript.Lock{Name: fmt.Sprint(i)})
			l.taken(t, lock, 10*time.Second, nil)
			wait.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second+500*time.Millisecond)
				defer cancel()
				_, _ = l.Wait(ctx, lock, 10*time.Second, func(*Refusal) {})
			})
			time.Sleep(time.Millisecond) // without this pause the questions would travel in one call
		}
		wait.Wait()
		synctest.Wait() // the waiters also quit the queues
		nodes[0].mu.Lock()
		defer nodes[0].mu.Unlock()
		early, sum := 0, time.Duration(0)
		for i := range waiters {
			at := nodes[0].asked[nodescript.RecordKey(fmt.Sprint(i))]
			if len(at) < 4 {
				t.Fatalf("waiter %d asked %d times in 4.5 s", i, len(at))
			}
			first, second, third := at[1].Sub(at[0]), at[2].Sub(at[1]), at[3].Sub(at[2])
			if whole := func(d time.Duration) bool { return d >= askEvery && d < askEvery+time.Millisecond }; !whole(first) || !whole(third) {
				t.Errorf("waiter %d made pauses of %s, %s and %s; want the first and the third to be %s", i, first, second, third, askEvery)
			}
			if sum += second; second < askEvery/2 {
				early++
			}
		}
		if early < waiters/5 || early > waiters*4/5 || sum > waiters*askEvery*4/5 {
			t.Errorf("the second pause of %d waiters of %d was less than half of %s; on average it was %s", early, waiters, askEvery, sum/waiters)
		}
	})
}
