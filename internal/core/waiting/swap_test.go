package waiting

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// opposite returns two clients of five nodes. The first client is near to nodes 0 and 1, and the second to nodes 2, 3
// and 4. If both ask at once, each client gets its near nodes. back is the time of every answer.
func opposite(t *testing.T, near, far, back time.Duration) (clients []*Locker, views [][]*away) {
	set, models := voting(0, 0, 0, 0, 0)
	for _, mine := range [][]int{{0, 1}, {2, 3, 4}} {
		var views5 []*away
		var nodes []node.Node
		for i, m := range models {
			n := &away{Node: m, far: far, slow: back}
			if slices.Contains(mine, i) {
				n.far = near
			}
			views5, nodes = append(views5, n), append(nodes, n)
		}
		l := met(t, locker(t, set, askEvery/2, nodes...))
		l.RetryDelay = askEvery / 10
		l.Inbox.open(t.Context())
		l.Fan.AskVotes(t.Context())
		clients, views = append(clients, l), append(views, views5)
	}
	time.Sleep(askEvery)
	return clients, views
}

// lockInTurn locks and unlocks x at every client, with the time apart between them. It returns the first holder and the
// time until it had the lock.
func lockInTurn(ctx context.Context, t *testing.T, clients []*Locker, apart time.Duration) (first *Locker, took time.Duration) {
	lock, start, got := nodescript.NewExclusive(nodescript.Lock{Name: "x"}), time.Now(), make(chan *Locker, len(clients))
	for _, l := range clients {
		go func() {
			g, r := l.Wait(ctx, lock, 10*time.Second, func(*Refusal) {})
			if r != nil {
				t.Errorf("%s later: %+v", time.Since(start), r)
			}
			got <- l
			g.End()
			l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock.Lock(), g.Owner, g.Token)}, nil)
		}()
		time.Sleep(apart)
	}
	first, took = <-got, time.Since(start)
	for range len(clients) - 1 {
		<-got
	}
	return first, took
}

// The younger client has a majority and does not know it, because a node's answer was lost and the client can no longer
// reach that node. So each client has a partial grant that the other client needs.
func TestTwoThatHaveAPartEachDoNotSwap(t *testing.T) {
	const trip = 60 * time.Millisecond
	for range 30 {
		synctest.Test(t, func(t *testing.T) {
			clients, views := opposite(t, trip/4, trip/2, trip/2)
			views[1][4].unheard.Store(true)
			first, took := lockInTurn(t.Context(), t, clients, time.Millisecond)
			if first != clients[0] {
				t.Error("the younger one had it first")
			}
			if took > askEvery {
				t.Errorf("nobody had it for %s", took)
			}
		})
	}
}

// Two clients may draw the same ticket, in the same microsecond.
func TestTwoWithTheSameTicketDoNotBothKeepAPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clients, views := opposite(t, time.Millisecond, 5*time.Millisecond, time.Millisecond)
		views[0][4].cut.Store(true)
		views[1][4].cut.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		lockInTurn(ctx, t, clients, 0)
	})
}

// Two of five nodes are down. The answers of the younger client's node take longer than the client's pauses. If the
// client asked again before they come, it would never have an answer to its current question, and would give nothing
// back.
func TestAPartWhoseGrantsComeLateIsGivenBack(t *testing.T) {
	const slow = askEvery * 4 / 10
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			clients, views := opposite(t, time.Millisecond, 10*time.Millisecond, 0)
			for _, nodes := range views {
				nodes[3].cut.Store(true)
				nodes[4].cut.Store(true)
			}
			views[1][2].slow = slow
			if _, took := lockInTurn(t.Context(), t, clients, time.Millisecond); took > 2*slow+askEvery/10 {
				t.Errorf("nobody had it for %s", took)
			}
		})
	}
}
