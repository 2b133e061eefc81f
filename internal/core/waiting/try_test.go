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

// A job starts on two machines at the same instant, and each machine is nearer to another node. One machine must run
// the job. This also holds while the third node hangs, which could have voted for either machine.
func TestOneOfTwoThatTryAtOnceGetsTheLockWhileANodeHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, models := voting(0, 0, 0)
		hung := &hanging{Node: models[2]}
		client := func(ways ...time.Duration) *Locker {
			l := met(t, locker(t, set, 100*time.Millisecond, far{models[0], ways[0]}, far{models[1], ways[1]}, hung))
			l.Fan.AskVotes(t.Context())
			return l
		}
		both := []*Locker{client(time.Millisecond, 5*time.Millisecond), client(5*time.Millisecond, time.Millisecond)}
		hung.hangs.Store(true)
		for _, l := range both { // both clients meet the nodes
			for range 3 {
				l.Try(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: "other"}), time.Second)
			}
		}
		neither := 0
		for range 20 {
			got := make(chan bool, len(both))
			for _, l := range both {
				go func() {
					_, r := l.Try(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: "x"}), 2*time.Second)
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

// road is a node whose questions and answers take the given times.
type road struct {
	node.Node
	there, back time.Duration
}

func (n road) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	time.Sleep(n.there)
	defer time.Sleep(n.back)
	return n.Node.EvalSHA(ctx, calls)
}

// Each of two clients gets the grant of one node. It hears of its grant late, and before that it hears that the other
// node is granted to the other client. If there are only these two nodes, a missing answer is no vote for the other
// client.
func TestAnAnswerUnderWayIsNoVoteForAnother(t *testing.T) {
	const ms = time.Millisecond
	for _, dead := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			clocks := make([]time.Duration, 2, 3)
			if dead {
				clocks = append(clocks, 0)
			}
			set, models := voting(clocks...)
			client := func(ways ...[2]time.Duration) *Locker {
				var nodes []node.Node
				for i, m := range models {
					if i < 2 {
						nodes = append(nodes, road{m, ways[i][0], ways[i][1]})
					} else {
						n := &away{Node: m}
						n.cut.Store(true)
						nodes = append(nodes, n)
					}
				}
				l := met(t, locker(t, set, time.Second, nodes...))
				l.RetryDelay = 100 * ms
				return l
			}
			both := []*Locker{
				client([2]time.Duration{15 * ms, 1 * ms}, [2]time.Duration{5 * ms, 40 * ms}),
				client([2]time.Duration{5 * ms, 40 * ms}, [2]time.Duration{15 * ms, 1 * ms}),
			}
			neither := 0
			for range 50 {
				got := make(chan *Refusal, len(both))
				for _, l := range both {
					go func() {
						_, r := l.Try(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: "x"}), 2*time.Second)
						got <- r
					}()
				}
				switch a, b := <-got, <-got; {
				case a == nil && b == nil:
					t.Fatal("both have it")
				case a != nil && b != nil:
					neither++
				}
				time.Sleep(10 * time.Second)
			}
			if neither > 0 {
				t.Errorf("a third node is dead: %v; of 50 times nobody got it %d times", dead, neither)
			}
		})
	}
}

// An attempt gives its grants back before it waits for the reason of its failure.
func TestAnAttemptThatWaitsForAnswersKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, nodes := hearing(t, func(m *nodemodel.Node) *away { return &away{Node: m} })
		lock := nodescript.NewExclusive(nodescript.Lock{Name: "x", Private: true})
		l.taken(t, lock, 10*time.Second, func(node int) bool { return node == 0 })
		nodes[1].slow = 300 * time.Millisecond // this also delays answers of nodes that may have granted the lock
		nodes[2].cut.Store(true)
		began := time.Now()
		a := &apart{t: t, l: l, nodes: nodes, lock: lock}
		go func() {
			time.Sleep(100 * time.Millisecond)
			if has := a.holder(1); has != "" {
				t.Errorf("%q has a node while it waits", has)
			}
		}()
		_, r := l.Try(t.Context(), lock, time.Second)
		if took := time.Since(began); took < 300*time.Millisecond {
			t.Errorf("it failed within %s: %v", took, r)
		}
	})
}
