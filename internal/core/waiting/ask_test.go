package waiting

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// silent is a node that tells only its identity and its time.
type silent struct{ *nodemodel.Node }

func (n silent) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	return nodemodel.Hung(ctx, calls)
}

// A client's first wait asks before it subscribes. Another wait of the client may have subscribed since then. In that
// case one node's hand-off begins a question to that node alone, which no answer decides. The defect was that the
// waiter took this question for its own question and never asked again.
func TestTheFirstQuestionEndsWhenANodeHandsTheNameOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := three(t, func(_ int, m *nodemodel.Node) node.Node { return silent{m} })
		b := l.bid(t)
		asked := make(chan struct{})
		go func() {
			l.ask(t.Context(), b, 0)
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

// A waiter asks again after a second. If nodes take longer to answer, the new question must not end the last one.
// Otherwise no question would ever be decided.
func TestTheNextQuestionWaitsForTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, models := voting(0, 0, 0)
		var nodes []node.Node
		for _, m := range models {
			nodes = append(nodes, slow{m})
		}
		l := met(t, locker(t, set, 3*askEvery, nodes...))
		l.Inbox.open(t.Context()) // without an open inbox the waiter would await the first question
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, r := l.Wait(ctx, nodescript.NewExclusive(nodescript.Lock{Name: "x"}), 10*time.Second, func(*Refusal) {}); r != nil {
			t.Errorf("three slow nodes, a free lock, and it was not got: %+v", r)
		}
	})
}

// No subscription works, and the node timeout is long. Then the first waiter of a client, too, asks about once a
// second.
func TestTheFirstWaiterWithoutSubscriptionsAsksOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, models := voting(0)
		l := met(t, locker(t, set, 10*time.Second, deaf{models[0]}))
		l.Fan.AskVotes(t.Context())
		lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
		l.taken(t, lock, 2500*time.Millisecond, nil)
		began := time.Now()
		_, r := l.Wait(t.Context(), lock, 10*time.Second, func(*Refusal) {})
		if took := time.Since(began); r != nil || took > 4*time.Second {
			t.Errorf("the waiter got %+v after %s", r, took)
		}
	})
}

// deaf is a node that refuses subscriptions.
type deaf struct{ *nodemodel.Node }

func (deaf) Listen(context.Context, string, func(string)) error { return &node.Error{Code: "NOPERM"} }

// slow is a node whose answers take longer than the pause of a waiter.
type slow struct{ *nodemodel.Node }

func (n slow) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	defer time.Sleep(askEvery * 3 / 2)
	return n.Node.EvalSHA(ctx, calls)
}
