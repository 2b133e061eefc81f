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
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// aged starts servers, and returns when they have been running for longer than a quarantine of onShort. Nobody has used
// them.
func aged(t *testing.T, n int) []*redistest.Server {
	t.Helper()
	servers := redistest.StartN(t, n, redistest.WithClock())
	time.Sleep(3100 * time.Millisecond) // the uptime is 3 s or more, and a quarantine is 1.1 s
	return servers
}

// onShort opens a client with a MaxTTL of 1 s. Its nodes are at these addresses.
func onShort(t *testing.T, driver string, addrs ...string) *holdfast.Client {
	t.Helper()
	var nodes []node.Node
	for _, addr := range addrs {
		n, err := atAddress[driver](addr)
		nodes = append(nodes, opened(t, n, err))
	}
	c, err := holdfast.New(holdfast.Config{Nodes: nodes, MaxTTL: time.Second, Window: 100 * time.Millisecond})
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
		for _, n := range []int{1, 3} {
			t.Run(fmt.Sprint(driver, ", ", n, " nodes"), func(t *testing.T) {
				t.Parallel()
				c := onShort(t, driver, addrsOf(aged(t, n))...)
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

// Many clients come at once to servers that were never used. All get the lock in turn.
func TestManyFirstLocksOnUnusedServersExcludeEachOther(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n, " nodes"), func(t *testing.T) {
			t.Parallel()
			servers := aged(t, n)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var all believers
			var wait sync.WaitGroup
			for range 6 {
				c := onShort(t, "rueidis", addrsOf(servers)...)
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
		"their clocks have leapt": func(_ *testing.T, servers []*redistest.Server, _ []string) {
			for _, s := range servers { // they seem to be older than they are
				s.Step(time.Minute)
			}
		},
		"one is at a host name": func(_ *testing.T, _ []*redistest.Server, addrs []string) {
			addrs[0] = strings.Replace(addrs[0], "127.0.0.1", "localhost", 1)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			servers := aged(t, 3)
			addrs := addrsOf(servers)
			spoil(t, servers, addrs)
			for _, driver := range []string{"rueidis", "go-redis"} {
				c := onShort(t, driver, addrs...)
				var un *holdfast.UnavailableError
				if _, err := c.Mutex("x").TryLock(t.Context()); !errors.As(err, &un) {
					t.Fatalf("%s: error %v; want no quorum", driver, err)
				}
				for _, n := range un.Nodes {
					if n.Reason == verdict.ReasonVotes {
						t.Errorf("%s: %s votes", driver, n.Node)
					}
				}
			}
		})
	}
	// Other clients of the set may have other addresses, and one of these may have moved. And a look skips nothing.
	t.Run("the set has a name", func(t *testing.T) {
		t.Parallel()
		server := aged(t, 1)[0]
		n, err := atAddress["rueidis"](server.Addr())
		c, err := holdfast.New(holdfast.Config{Nodes: []node.Node{opened(t, n, err)}, MaxTTL: time.Second, Window: 100 * time.Millisecond, Cluster: "named"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := c.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
			t.Errorf("error %v; want no quorum", err)
		}
	})
	t.Run("somebody looks", func(t *testing.T) {
		t.Parallel()
		c := onShort(t, "rueidis", addrsOf(aged(t, 1))...)
		if n := admin.Nodes(t.Context(), c)[0]; n.Votes() || n.Cause != verdict.CauseUnused {
			t.Errorf("the node: %s", n)
		}
		if _, err := c.Status(t.Context(), "x"); err == nil {
			t.Error("the status of a lock is known")
		}
	})
	// One node is a load balancer in front of two servers that were never used.
	t.Run("several servers", func(t *testing.T) {
		t.Parallel()
		servers := aged(t, 2)
		proxy := redistest.NewProxy(t, servers[0].Addr())
		proxy.Balance(servers[1].Addr())
		for range 4 {
			if _, err := onShort(t, "rueidis", proxy.Addr()).Mutex("x").TryLock(t.Context()); err == nil {
				t.Error("a client got the lock")
			}
		}
	})
}
