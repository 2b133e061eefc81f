package waiting

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// flapping is a node whose subscriptions work for a millisecond at a time after it begins to flap.
type flapping struct {
	*nodemodel.Node
	begin <-chan struct{} // this channel closes when the node begins to flap
	asked atomic.Int64    // the number of acquires
}

func (n *flapping) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	for _, c := range calls {
		if len(c.Args)%4 == 0 && len(c.Args[0]) == 49 { // the call is an acquire
			n.asked.Add(int64(len(c.Args) / 4))
		}
	}
	return n.Node.EvalSHA(ctx, calls)
}

func (n *flapping) Listen(ctx context.Context, channel string, on func(string)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return n.Node.Listen(ctx, channel, func(m string) {
		if m == "" {
			go func() {
				select {
				case <-n.begin:
				case <-ctx.Done():
					return
				}
				time.Sleep(time.Millisecond)
				cancel()
			}()
		}
		on(m)
	})
}

// The client makes a subscription that breaks again and again less and less often. A waiter does not ask each time the
// subscription works again, because it asks once a second anyway. With hundreds of waiters a node in trouble would get
// thousands of questions.
func TestASubscriptionThatFlapsDoesNotMakeWaitersAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := make(chan struct{})
		var nodes []*flapping
		l := three(t, func(_ int, m *nodemodel.Node) node.Node {
			nodes = append(nodes, &flapping{Node: m, begin: begin})
			return nodes[len(nodes)-1]
		})
		l.Inbox.open(t.Context())
		l.Fan.AskVotes(t.Context())
		const waiters, seconds, most = 20, 8, 5
		ctx, cancel := context.WithTimeout(t.Context(), (seconds+1)*time.Second)
		defer cancel()
		var all sync.WaitGroup
		for i := range waiters {
			lock := nodescript.NewExclusive(nodescript.Lock{Name: fmt.Sprint(i)})
			l.taken(t, lock, 10*time.Second, nil)
			all.Go(func() { _, _ = l.Wait(ctx, lock, 10*time.Second, func(*Refusal) {}) })
		}
		time.Sleep(time.Second)
		before := nodes[0].asked.Load()
		close(begin)
		all.Wait()
		each := float64(nodes[0].asked.Load()-before) / waiters / seconds
		t.Logf("each waiter asked %.1f times a second", each)
		if each > most {
			t.Errorf("each waiter asked a node %.1f times a second; want %d at most", each, most)
		}
	})
}

// Even if a client hears a node again very often, a waiter asks for that reason at most once a second. But it asks
// another node that is heard again at once.
func TestAWaiterAsksOnceASecondBecauseANodeIsHeardAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, nodes := hearing(t, func(m *nodemodel.Node) *flapping { return &flapping{Node: m} })
		b := l.bid(t)
		defer b.giveUp()
		l.taken(t, b.lock.(*nodescript.Exclusive), 10*time.Second, nil)
		before := nodes[0].asked.Load()
		for i := range 95 {
			b.heardAgain(i % 2)
			time.Sleep(10 * time.Millisecond)
		}
		if n := nodes[0].asked.Load() - before; n != 2 {
			t.Errorf("it asked %d times within a second, because two nodes were heard again; want 2", n)
		}
	})
}
