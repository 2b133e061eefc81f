package redisson_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func rueidis(t testing.TB, s *redistest.Server) []node.Node {
	t.Helper()
	nodes, err := rueidisnode.Open(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}

// On three nodes a majority decides, and each node has the layout of RLock.
func TestAMajorityDecides(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	c := open(t, urls(servers), nil)
	l := mustLock(t, c, "orders")
	redistest.Eventually(t, within, "all three nodes have the lock", func() bool {
		n := 0
		for _, s := range servers {
			if hash(t, s, "orders")[l.Owner()] == "1" {
				n++
			}
		}
		return n == 3
	})
	for _, s := range servers {
		if got, ok := (java{t: t, server: s, name: "orders"}).lock(time.Second).(int64); !ok {
			t.Errorf("java gets the lock: %v", got)
		}
	}
	mustUnlock(t, l)
	for _, s := range servers {
		empty(t, s)
	}

	// While Java has the lock on a minority of the servers, Go gets the lock. While Java has it on a majority, Go does
	// not get it, and leaves nothing on the other server.
	j := []java{}
	for _, s := range servers {
		j = append(j, java{t: t, server: s, name: "orders"})
	}
	j[0].lock(time.Hour)
	mustUnlock(t, mustLock(t, c, "orders"))
	j[1].lock(time.Hour)
	_, err := c.Mutex("orders").TryLock(t.Context())
	var held *redisson.HeldError
	if !errors.As(err, &held) || held.Holder != thread {
		t.Errorf("TryLock: %v", err)
	}
	empty(t, servers[2])
	j[0].unlock()
	j[1].unlock()

	// One node is down.
	servers[2].Kill()
	l = mustLock(t, c, "orders")
	mustUnlock(t, l)
}

// Two nodes of three are down: nothing is known.
func TestWithoutAMajorityNothingIsKnown(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	c := open(t, urls(servers), shortTTL)
	l := mustLock(t, c, "orders")
	servers[0].Kill()
	servers[1].Kill()
	<-l.Context().Done()
	if err := context.Cause(l.Context()); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("the lease ended with %v", err)
	}
	_, err := c.Mutex("orders").TryLock(t.Context())
	var un *redisson.UnavailableError
	if !errors.As(err, &un) || len(un.Nodes) != 3 {
		t.Errorf("TryLock: %v", err)
	}
	empty(t, servers[2])
}

// Messages of a majority wake a waiter. A node that is free alone does not make two waiters wake each other for ever.
func TestWaitersOnThreeNodesDoNotWakeEachOther(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	all := []java{}
	for _, s := range servers[:2] {
		j := java{t: t, server: s, name: "orders"}
		j.lock(time.Hour)
		all = append(all, j)
	}
	got := make(chan *redisson.Lease)
	for range 2 {
		c := open(t, urls(servers), noPoll)
		go func() { got <- mustLock(t, c, "orders") }()
	}
	for _, s := range servers {
		redistest.Eventually(t, within, "two subscriptions", func() bool {
			return s.MustDo(t, "PUBSUB", "NUMSUB", "redisson_lock__channel:{orders}").([]any)[1].(int64) == 2
		})
	}
	// Messages from a minority must wake nobody. An earlier message from another node may form a majority with them,
	// but only once. At this point each of the two waiters has tried once or twice, and now waits. If the waiters woke
	// each other, their tries would never stop.
	before := settled(t, servers[2])
	for range 50 {
		servers[2].MustDo(t, "PUBLISH", "redisson_lock__channel:{orders}", "0")
		time.Sleep(5 * time.Millisecond) // a waiter that was woken would try now
	}
	if n := calls(t, servers[2]) - before; n > 4 {
		t.Errorf("%d scripts after 50 messages of a minority", n)
	}
	for _, j := range all {
		j.unlock()
	}
	mustUnlock(t, take(t, got))
	mustUnlock(t, take(t, got))
	for _, s := range servers {
		empty(t, s)
	}
}

// Three clients, three nodes, an unprotected counter: no increment is lost, and nothing is left.
func TestACrowdOnThreeNodesLosesNoIncrement(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	var wait sync.WaitGroup
	n := 0 // without protection
	const each = 20
	for range 3 {
		c := open(t, urls(servers), nil)
		for range 2 {
			wait.Go(func() {
				for range each {
					if err := c.Mutex("orders").Do(t.Context(), func(context.Context) error { n++; return nil }); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wait.Wait()
	if n != 6*each {
		t.Errorf("%d of %d increments", n, 6*each)
	}
	for _, s := range servers {
		empty(t, s)
	}
}

// A lease that a majority has lost is lost. Renewal does not give it back to a node: that would undo a forceUnlock.
func TestAForceUnlockOnAMajorityIsALoss(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	c := open(t, urls(servers), nil)
	l := mustLock(t, c, "orders")
	has := func(i int) bool { return hash(t, servers[i], "orders")[l.Owner()] != "" }
	redistest.Eventually(t, within, "all three nodes have the lock", func() bool { return has(0) && has(1) && has(2) })
	servers[0].MustDo(t, "DEL", "orders")
	if err := l.Extend(t.Context(), 30*time.Second); err != nil {
		t.Errorf("Extend with a majority: %v", err)
	}
	if has(0) {
		t.Error("renewal gave the lock back to a node")
	}
	servers[1].MustDo(t, "DEL", "orders")
	if err := l.Extend(t.Context(), 30*time.Second); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("Extend without a majority: %v", err)
	}
	for _, s := range servers {
		empty(t, s)
	}
}
