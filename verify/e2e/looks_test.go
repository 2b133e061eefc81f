package e2e

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// For client a, the address of node 2 moves to another live server, server 3. That server votes, but is a stranger for
// node 1, which a can reach. Server 2, which client b uses, still lives. Client.Nodes is the first call of a that meets
// server 3.
func TestALookMeetsAnotherServerAsAGreetingDoes(t *testing.T) {
	t.Parallel()
	s := newSet(t, 4)
	b, ofB := s.behind(0, 1, 2)
	s.ready(b)
	// Server 3 votes although it is a stranger, because client c once had the wrong list.
	c, _ := s.behind(0, 1, 3)
	redistest.Eventually(t, 5*time.Second, "c", func() bool { n, _ := standing(t, c); return n >= 2 })
	time.Sleep(100 * time.Millisecond)
	c.Close()
	a, ofA := s.behind(0, 1, 2)
	s.ready(a)
	for i := range 20 {
		ofB[1].Cut(true) // b works with nodes 0 and 2
		held, err := b.Mutex("x").TryLock(t.Context())
		if err != nil {
			t.Logf("b: %v", err)
			ofB[1].Cut(false)
			continue
		}
		ofA[0].Cut(true) // a reaches only node 1, and the address of node 2
		ofA[2].Redirect(s.servers[3].Addr())
		time.Sleep(20 * time.Millisecond)
		ns := admin.Nodes(t.Context(), a)
		other, err := a.Mutex("x").TryLock(t.Context())
		if err == nil && held.Context().Err() == nil {
			t.Fatalf("try %d: two holders: B %s for another %s, A %s; a's nodes: %v", i, held.Owner(), time.Until(held.Deadline()), other.Owner(), ns)
		}
		t.Logf("try %d: a: %.200v; %.300v", i, err, ns)
		held.Unlock(t.Context())
		ofA[2].Redirect(s.servers[2].Addr())
		ofA[0].Cut(false)
		ofB[1].Cut(false)
		s.ready(a)
	}
}

// A durable server comes back with "appendfsync everysec". A client that greets the server refuses it. A client whose
// first call is a look (Client.Nodes) must refuse it too. Earlier such a client let the server vote and locked on it.
func TestALookChecksThatANodeIsDurable(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1, redistest.Durable())
	c, net := s.behind(0)
	_ = c
	durable := func(c *holdfast.Config) { c.Durable = true }
	a := s.client(durable, net.via(t, viaRueidis))
	s.ready(a)
	s.servers[0].Kill()
	s.servers[0].Restart()
	s.servers[0].MustDo(t, "CONFIG", "SET", "appendfsync", "everysec")
	time.Sleep(50 * time.Millisecond)
	n := admin.Nodes(t.Context(), a)
	l, err := a.Mutex("x").TryLock(t.Context())
	fresh := admin.Nodes(t.Context(), s.client(durable))
	if err == nil {
		t.Errorf("a lease %s on a node that is less durable than declared; who looked: %v; a fresh client: %v", l.Owner(), n, fresh)
		time.Sleep(3 * time.Second)
		t.Logf("3 s later it is still held: %v; %v", l.Context().Err() == nil, admin.Nodes(t.Context(), a))
	} else {
		t.Log(n, err)
	}
}

// A program serves its health page from Client.Nodes, five times a second, each with a timeout. One of three nodes
// hangs. The goroutines of the looks must not pile up.
//
// The test runs alone: it counts all goroutines of the process.
func TestLooksAtAHungNodeDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "test"}
		c, ways := clientOf(t, manyNodes(t, 3, set), set)
		defer c.Close()
		admin.Nodes(t.Context(), c)
		ways[2].way.Store(int64(time.Hour))
		before := runtime.NumGoroutine()
		for range 5 * 60 * 10 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			admin.Nodes(ctx, c)
			cancel()
			time.Sleep(100 * time.Millisecond)
		}
		if n := runtime.NumGoroutine() - before; n > 100 {
			t.Errorf("%d more goroutines after ten minutes", n)
		}
	})
}

// blip makes every call on this way fail for a time, as when connections break.
type blip struct {
	*flip
	broken *atomic.Bool
}

func (b *blip) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if b.broken.Load() {
		replies := make([]node.Reply, len(calls))
		for i := range replies {
			replies[i].Err = errors.New("connection lost")
		}
		return replies
	}
	return b.flip.EvalSHA(ctx, calls)
}

// The nodes are healthy and 10 ms away. Their connections break once, for 100 ms, after twenty seconds. The client must
// keep the lease even with 50 looks a second. Earlier it then lost the lease and could not get a lock for a long time.
func TestLooksAndABrokenConnectionCostNoLease(t *testing.T) {
	t.Parallel()
	for _, looks := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			set := nodescript.Config{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "test"}
			var broken atomic.Bool
			pause := 20
			var list []node.Node
			steady := clock.Monotonic()
			for i, s := range manyNodes(t, 3, set) {
				w := &flip{clock: steady, addr: fmt.Sprint("addr", i)}
				w.to.Store(s)
				w.way.Store(int64(5 * time.Millisecond))
				list = append(list, &blip{w, &broken})
			}
			c, err := holdfast.New(holdfast.Config{Nodes: list, MaxTTL: set.MaxTTL, TTL: set.MaxTTL, Window: set.Window, NodeTimeout: 500 * time.Millisecond, Cluster: set.Cluster, Logger: quiet})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			admin.Nodes(t.Context(), c)
			l := lock(t, c, "x")
			done := make(chan struct{})
			go func() { // this goroutine keeps the client at work
				for i := 0; ; i++ {
					select {
					case <-done:
						return
					case <-time.After(20 * time.Millisecond):
					}
					go func() {
						ctx, cancel := context.WithTimeout(context.Background(), time.Second)
						defer cancel()
						if l, err := c.Mutex(fmt.Sprint("work", i%50)).TryLock(ctx); err == nil {
							l.Unlock(ctx)
						}
					}()
				}
			}()
			began, blipped := time.Now(), false
			for time.Since(began) < time.Minute && l.Context().Err() == nil {
				if looks {
					go func() {
						ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
						defer cancel()
						admin.Nodes(ctx, c)
					}()
				}
				time.Sleep(time.Duration(pause) * time.Millisecond)
				if !blipped && time.Since(began) > 20*time.Second {
					blipped = true
					broken.Store(true)
					time.Sleep(100 * time.Millisecond)
					broken.Store(false)
				}
			}
			if l.Context().Err() != nil {
				t.Errorf("looks: %v: lost after %s: %.600v", looks, time.Since(began), context.Cause(l.Context()))
				again := time.Now()
				for time.Since(again) < 10*time.Minute {
					ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
					got, err := c.Mutex("y").TryLock(ctx)
					cancel()
					if err == nil {
						got.Unlock(context.Background())
						break
					}
				}
				t.Logf("no looks any more; the next lock came after %s", time.Since(again))
			} else {
				t.Logf("looks: %v: held for a minute, %d goroutines", looks, runtime.NumGoroutine())
				l.Unlock(context.Background())
			}
			close(done)
			time.Sleep(2 * time.Second)
		})
	}
}
