package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// aged starts servers that have been running for a minute, as their clocks say, and that nobody has used.
func aged(t *testing.T, n int) []*redistest.Server {
	t.Helper()
	servers := redistest.StartN(t, n, redistest.WithClock())
	for _, s := range servers {
		s.Step(time.Minute)
	}
	return servers
}

// onDefaults opens a client with the default MaxTTL. Its nodes are at these addresses.
func onDefaults(t *testing.T, driver string, addrs ...string) *holdfast.Client {
	t.Helper()
	var nodes []node.Node
	for _, addr := range addrs {
		n, err := atAddress[driver](addr)
		nodes = append(nodes, opened(t, n, err))
	}
	c, err := holdfast.New(holdfast.Config{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func addrsOf(servers []*redistest.Server) (list []string) {
	for _, s := range servers {
		list = append(list, s.Addr())
	}
	return list
}

// The first lock on servers of this machine that were never used comes at once, and not after a quarantine.
func TestTheFirstLockOnUnusedServersComesAtOnce(t *testing.T) {
	t.Parallel()
	for _, driver := range []string{"rueidis", "go-redis"} {
		for _, n := range []int{1, 3, 5} {
			t.Run(fmt.Sprint(driver, ", ", n, " nodes"), func(t *testing.T) {
				t.Parallel()
				c := onDefaults(t, driver, addrsOf(aged(t, n))...)
				began := time.Now()
				l, err := c.Mutex("x").TryLock(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("the lock came after %s", time.Since(began))
				if err := l.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// Many clients come at once to servers that were never used. All get the lock in turn, before a quarantine could end.
func TestManyFirstLocksOnUnusedServersExcludeEachOther(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n, " nodes"), func(t *testing.T) {
			t.Parallel()
			servers := aged(t, n)
			ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
			defer cancel()
			var all believers
			var wait sync.WaitGroup
			for range 6 {
				c := onDefaults(t, "rueidis", addrsOf(servers)...)
				wait.Go(func() {
					l, err := c.Mutex("x", holdfast.WaitThroughOutages()).Lock(ctx)
					if err != nil {
						t.Error(err)
						return
					}
					all.enter(l)
					time.Sleep(20 * time.Millisecond)
					all.leave(l)
					if err := l.Unlock(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			wait.Wait()
			if all.held != 6 || all.overlaps > 0 {
				t.Errorf("%d leases, %d overlaps", all.held, all.overlaps)
			}
		})
	}
}

// In each of these cases another server, or an earlier run of a server, may have granted a lock that is alive.
func TestServersThatMayHaveBeenUsedKeepTheirQuarantine(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(t *testing.T, servers []*redistest.Server, addrs []string){
		"one has run a script": func(t *testing.T, servers []*redistest.Server, _ []string) {
			if _, err := servers[0].Do("EVALSHA", strings.Repeat("0", 40), 0); err == nil {
				t.Fatal("the server knows the script")
			}
		},
		"one has restarted": func(_ *testing.T, servers []*redistest.Server, _ []string) { servers[0].Restart() },
		"one is down":       func(_ *testing.T, servers []*redistest.Server, _ []string) { servers[0].Kill() },
		"one is behind a proxy": func(t *testing.T, _ []*redistest.Server, addrs []string) {
			addrs[0] = redistest.NewProxy(t, addrs[0]).Addr()
		},
		"one is older than this machine": func(_ *testing.T, servers []*redistest.Server, _ []string) {
			for _, s := range servers { // a majority decides about the clock
				s.Step(10000 * time.Hour)
			}
		},
	} {
		for _, driver := range []string{"rueidis", "go-redis"} {
			t.Run(what+", "+driver, func(t *testing.T) {
				t.Parallel()
				servers := aged(t, 3)
				addrs := addrsOf(servers)
				spoil(t, servers, addrs)
				c := onDefaults(t, driver, addrs...)
				for range 3 {
					var un *holdfast.UnavailableError
					if _, err := c.Mutex("x").TryLock(t.Context()); !errors.As(err, &un) {
						t.Fatalf("error %v; want no quorum", err)
					}
					for _, n := range un.Nodes {
						if n.Reason == verdict.ReasonVotes {
							t.Errorf("%s votes", n.Node)
						}
					}
				}
			})
		}
	}
	// One node is a load balancer in front of two servers that were never used.
	t.Run("several servers", func(t *testing.T) {
		t.Parallel()
		servers := aged(t, 2)
		proxy := redistest.NewProxy(t, servers[0].Addr())
		proxy.Balance(servers[1].Addr())
		for range 4 {
			if _, err := onDefaults(t, "rueidis", proxy.Addr()).Mutex("x").TryLock(t.Context()); err == nil {
				t.Error("a client got the lock")
			}
		}
	})
}
