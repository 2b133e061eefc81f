package virtual

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Several clients try at the same instant, and one of them gets the lock. This also holds with one dead node of three,
// or with two nodes. Each client gets the grant of one node. It hears of that grant later than of the grants to the
// other client.
func TestOneOfTwoThatTryAtOnceGetsTheLock(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	ways := [2][2][2]time.Duration{{{15 * ms, 1 * ms}, {5 * ms, 40 * ms}}, {{5 * ms, 40 * ms}, {15 * ms, 1 * ms}}}
	for _, n := range []int{2, 3} {
		synctest.Test(t, func(t *testing.T) {
			set := nodeSet(n, 10*time.Second)
			servers := manyNodes(n, set)
			var clients []*holdfast.Client
			var third []*far
			for c := range 2 {
				var nodes []*far
				steady := clock.Monotonic()
				for i, s := range servers {
					f := newFar(s, steady, 0)
					if i < 2 {
						f.there.Store(int64(ways[c][i][0]))
						f.back.Store(int64(ways[c][i][1]))
					} else {
						third = append(third, f)
					}
					nodes = append(nodes, f)
				}
				cl := open(t, set, holdfast.Config{NodeTimeout: 3 * time.Second}, nodes)
				defer cl.Close()
				clients = append(clients, cl)
				lock(t, cl, "warm").Unlock(t.Context()) // the client meets all nodes
			}
			for _, f := range third {
				f.cut.Store(true)
			}
			for _, c := range clients { // both clients learn whether a node is dead
				lock(t, c, "warm").Unlock(t.Context())
			}
			none := 0
			const rounds = 50
			var last [2]error
			for range rounds {
				var wg sync.WaitGroup
				var got [2]error
				for i, c := range clients {
					wg.Go(func() {
						time.Sleep(rand.N(ms))
						l, err := c.Mutex("job").TryLock(t.Context())
						got[i] = err
						if err == nil {
							time.Sleep(100 * ms)
							_ = l.Unlock(t.Context())
						}
					})
				}
				wg.Wait()
				if got[0] != nil && got[1] != nil {
					none++
					last = got
				}
				time.Sleep(200 * ms)
			}
			if none > 0 {
				t.Errorf("%d nodes, 2 of them alive: in %d of %d rounds neither of two that tried at once got the lock: %v; %v", n, none, rounds, last[0], last[1])
			}
		})
	}
}
