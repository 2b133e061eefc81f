package e2e

import (
	"context"
	"errors"
	"flag"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verdict"
)

// This file has addresses that lead to several servers, and addresses that move from one server to another.

var addressRuns = flag.Int("addressruns", 1, "how often each test of an address runs")

// atAddress opens a node at an address, with each driver.
var atAddress = map[string]func(addr string) (node.Node, error){
	"rueidis":             func(addr string) (node.Node, error) { return rueidisnode.New("redis://" + addr) },
	"rueidis, replicated": func(addr string) (node.Node, error) { return rueidisnode.New("redis://" + addr + "?replicated=true") },
	"go-redis":            func(addr string) (node.Node, error) { return goRedisAt(addr) },
	"go-redis, replicated": func(addr string) (node.Node, error) {
		return goRedisAt(addr, goredisnode.Replicated(0, 0))
	},
}

func goRedisAt(addr string, opts ...goredisnode.Option) (node.Node, error) {
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	return goredisnode.New(client, opts...)
}

// believers counts the leases of one name that are believed in while another one is.
type believers struct {
	mu       sync.Mutex
	leases   map[*holdfast.Lease]bool
	held     int
	overlaps int
}

func (c *believers) enter(l *holdfast.Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leases == nil {
		c.leases = map[*holdfast.Lease]bool{}
	}
	for other := range c.leases {
		if other.Context().Err() == nil && l.Context().Err() == nil {
			c.overlaps++
		}
	}
	c.leases[l] = true
	c.held++
}

func (c *believers) leave(l *holdfast.Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.leases, l)
}

// A load balancer is in front of two masters that are no replicas of each other.
func TestAnAddressOfSeveralServersDoesNotVote(t *testing.T) {
	t.Parallel()
	for name, open := range atAddress {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range *addressRuns {
				servers := redistest.StartN(t, 2)
				proxy := redistest.NewProxy(t, servers[0].Addr())
				proxy.Balance(servers[1].Addr())
				var clients []*holdfast.Client
				for range 3 {
					n, err := open(proxy.Addr())
					clients = append(clients, failoverClient(t, opened(t, n, err)))
				}
				ctx, cancel := context.WithTimeout(t.Context(), 3*(settings().MaxTTL+window))
				var c believers
				var wait sync.WaitGroup
				for _, client := range clients {
					wait.Go(func() {
						for ctx.Err() == nil {
							l, err := client.Mutex("x").TryLock(ctx)
							if err != nil {
								time.Sleep(20 * time.Millisecond)
								continue
							}
							c.enter(l)
							select {
							case <-l.Context().Done():
							case <-time.After(100 * time.Millisecond):
							}
							c.leave(l)
							l.Unlock(context.Background())
						}
					})
				}
				wait.Wait()
				cancel()
				if c.overlaps > 0 {
					t.Errorf("%d of %d leases had another holder inside", c.overlaps, c.held)
				}
				for i, client := range clients {
					var a verdict.Answer
					for range 50 { // a connection that was closed meanwhile fails
						if a = admin.Nodes(t.Context(), client)[0]; a.Reason == verdict.ReasonUnfit {
							break
						}
					}
					if a.Reason != verdict.ReasonUnfit || a.Cause != verdict.CauseSeveral {
						t.Errorf("client %d: the node %s; want the cause %q", i, a, verdict.CauseSeveral)
					}
					_ = client.Close()
				}
			}
		})
	}
}

// Somebody who looks once is told the cause each time, whichever server its first connections lead to. The node can be
// reached.
func TestALookAtABalancerIsToldTheCause(t *testing.T) {
	t.Parallel()
	for name, open := range atAddress {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := redistest.StartN(t, 2)
			proxy := redistest.NewProxy(t, servers[0].Addr())
			proxy.Balance(servers[1].Addr())
			for i := range 30 {
				n, err := open(proxy.Addr())
				client := failoverClient(t, opened(t, n, err))
				if a := admin.Nodes(t.Context(), client)[0]; a.Cause != verdict.CauseSeveral || !a.Reachable() {
					t.Errorf("client %d: the node %s (%s, %s), reachable: %t; want the cause %q", i, a, a.Reason, a.Cause, a.Reachable(), verdict.CauseSeveral)
				}
				_ = client.Close()
			}
		})
	}
}

// A virtual IP moves to another server, and the old sessions stay with the former one.
func TestALeaseEndsWhenTheAddressMoves(t *testing.T) {
	t.Parallel()
	for name, open := range atAddress {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range *addressRuns {
				servers := append(newSet(t, 1).servers, redistest.Start(t))
				// A server counts whole seconds, and may count one too many. So it is certain only after two that it
				// ran beside the other one.
				redistest.Eventually(t, 10*time.Second, "an uptime of both servers", func() bool {
					info := servers[1].MustDo(t, "INFO", "server").(string)
					return !strings.Contains(info, "uptime_in_seconds:0\r") && !strings.Contains(info, "uptime_in_seconds:1\r")
				})
				proxy := redistest.NewProxy(t, servers[0].Addr())
				n, err := open(proxy.Addr())
				holder := failoverClient(t, opened(t, n, err))
				l := lock(t, holder, "x")
				n, err = open(proxy.Addr())
				waiter := failoverClient(t, opened(t, n, err))

				proxy.Move(servers[1].Addr())
				moved := time.Now()
				var c believers
				c.enter(l)
				next := lock(t, waiter, "x", holdfast.WaitThroughOutages())
				c.enter(next)
				took := time.Since(moved)
				if c.overlaps > 0 {
					t.Errorf("two holders: the lease on the former server goes on for another %s", time.Until(l.Deadline()))
				}
				if took < settings().MaxTTL {
					t.Errorf("the other server granted after %s, without a quarantine", took)
				}
				var lost *holdfast.LostError
				if err := context.Cause(l.Context()); !errors.As(err, &lost) || len(lost.Nodes()) != 1 || lost.Nodes()[0].Cause != verdict.CauseElsewhere {
					t.Errorf("the lease ended with %v; want the cause %q", err, verdict.CauseElsewhere)
				}
				next.Unlock(t.Context())
				_, _ = holder.Close(), waiter.Close()
			}
		})
	}
}

// A server that restarts has another run id, but it is no second server.
func TestARestartIsNoSecondServer(t *testing.T) {
	t.Parallel()
	for name, open := range atAddress {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 1)
			proxy := redistest.NewProxy(t, s.servers[0].Addr())
			n, err := open(proxy.Addr())
			client := failoverClient(t, opened(t, n, err))
			lock(t, client, "x").Unlock(t.Context())
			for range 2 {
				s.servers[0].Kill()
				s.servers[0].Restart()
				redistest.Eventually(t, 5*time.Second, "the restarted node to answer", func() bool {
					a := admin.Nodes(t.Context(), client)[0]
					if a.Cause == verdict.CauseSeveral || a.Cause == verdict.CauseElsewhere {
						t.Fatalf("the restarted node: %s", a)
					}
					return a.Reason == verdict.ReasonQuarantined || a.Votes()
				})
			}
			redistest.Eventually(t, 10*time.Second, "a lock", func() bool {
				l, err := client.Mutex("x").TryLock(t.Context())
				if err == nil {
					l.Unlock(t.Context())
				}
				return err == nil
			})
		})
	}
}
