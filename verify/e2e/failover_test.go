package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verdict"
)

// This file has one node behind an address where the master changes.

// failoverClient opens a client on the node, and waits until the node votes.
func failoverClient(t *testing.T, n node.Node, change ...func(*holdfast.Config)) *holdfast.Client {
	t.Helper()
	s := &set{t: t}
	return s.client(append(change, func(c *holdfast.Config) { c.Nodes = []node.Node{n} })...)
}

func opened(t *testing.T, n node.Node, err error) node.Node {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// votesNow waits until the node votes.
func votesNow(t *testing.T, c *holdfast.Client) {
	t.Helper()
	var a verdict.Answer
	defer func() {
		if !a.Votes() {
			t.Logf("the node says: %s", a)
		}
	}()
	redistest.Eventually(t, 15*time.Second, "the node to vote", func() bool {
		a = admin.Nodes(t.Context(), c)[0]
		return a.Votes()
	})
}

func TestAPromotedMasterIsFoundAndQuarantined(t *testing.T) {
	t.Parallel()
	named := nodescript.Config{MaxTTL: settings().MaxTTL, Window: window}.NamedQuarantine()
	for driver, open := range map[string]func(f *redistest.Failover) (node.Node, error){
		"rueidis": func(f *redistest.Failover) (node.Node, error) { return rueidisnode.New(f.URL("?sentinel-password=s3")) },
		"go-redis": func(f *redistest.Failover) (node.Node, error) {
			client := redis.NewFailoverClient(&redis.FailoverOptions{
				MasterName: redistest.MasterName, SentinelAddrs: f.SentinelAddrs(), SentinelPassword: "s3",
			})
			t.Cleanup(func() { _ = client.Close() })
			return goredisnode.New(client)
		},
	} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			f := redistest.StartFailover(t, 1, "s3")
			n, err := open(f)
			if r, is := opened(t, n, err).(node.Replicated); !is || !r.Replication().Declared {
				t.Error("the node is not declared replicated")
			}
			c := failoverClient(t, n)
			votesNow(t, c)
			l := lock(t, c, "x")
			redistest.Eventually(t, 5*time.Second, "the replica to have the lock", func() bool {
				return f.Servers[1].MustDo(t, "EXISTS", nodescript.RecordKey("x")) == int64(1)
			})

			f.Servers[0].Kill()
			redistest.Eventually(t, 20*time.Second, "a promotion", func() bool { return f.Master() == f.Servers[1] })
			promoted, stalled := time.Now(), watchStalls(t)
			var found verdict.Answer
			redistest.Eventually(t, 5*time.Second, "the promotion to be found", func() bool {
				found = admin.Nodes(t.Context(), c)[0]
				return found.Reason == verdict.ReasonQuarantined
			})
			if found.Cause != verdict.CausePromoted || found.VotesIn > named || !strings.Contains(found.Said(), "was promoted") {
				t.Errorf("the promoted node: %+v, %q; want the cause %q", found, found.Said(), verdict.CausePromoted)
			}
			select {
			case <-l.Context().Done():
			case <-time.After(5 * time.Second):
				t.Error("the lease did not end")
			}
			if !errors.Is(context.Cause(l.Context()), holdfast.ErrLost) {
				t.Errorf("the lease ended with %v; want ErrLost", context.Cause(l.Context()))
			}
			lock(t, c, "x", holdfast.WaitThroughOutages()).Unlock(t.Context())
			if waited, most := time.Since(promoted), named+time.Second+5*stalled.most(); waited > most {
				t.Errorf("acquired %s after the promotion; want at most %s, which allows for stalls of %s", waited, most, stalled.most())
			}
		})
	}
}

// A master that was cut off from the Sentinels still answers its clients. They leave it.
func TestAClientLeavesAMasterThatSentinelReplaced(t *testing.T) {
	t.Parallel()
	for driver, open := range map[string]func(f *redistest.Failover) (node.Node, error){
		"rueidis": func(f *redistest.Failover) (node.Node, error) { return rueidisnode.New(f.URL("")) },
		"go-redis": func(f *redistest.Failover) (node.Node, error) {
			client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: redistest.MasterName, SentinelAddrs: f.SentinelAddrs()})
			t.Cleanup(func() { _ = client.Close() })
			return goredisnode.New(client)
		},
	} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			f := redistest.StartFailover(t, 1, "")
			n, err := open(f)
			c := failoverClient(t, opened(t, n, err))
			votesNow(t, c)
			l := lock(t, c, "x")
			f.Servers[1].MustDo(t, "REPLICAOF", "NO", "ONE")
			f.Monitor(f.Servers[1])
			select {
			case <-l.Context().Done():
			case <-time.After(10 * time.Second):
				t.Fatal("the client still renews its lease on the former master")
			}
			if a := admin.Nodes(t.Context(), c)[0]; a.Cause != verdict.CausePromoted {
				t.Errorf("the node: %s; want the cause %q", a, verdict.CausePromoted)
			}
		})
	}
}

// A node that was declared without Sentinel is behind an address that leads to another server, as DNS names and proxies
// of managed services do.
func TestAMasterThatWasAReplicaWhileNobodyLookedIsMetAgain(t *testing.T) {
	t.Parallel()
	opt := redistest.Args("--repl-diskless-sync-delay", "0")
	for driver, open := range map[string]func(p *redistest.Proxy) (node.Node, error){
		"rueidis": func(p *redistest.Proxy) (node.Node, error) { return rueidisnode.New(p.URL() + "?replicated=true") },
		"go-redis": func(p *redistest.Proxy) (node.Node, error) {
			client := redis.NewClient(&redis.Options{Addr: p.Addr()})
			t.Cleanup(func() { _ = client.Close() })
			return goredisnode.New(client, goredisnode.Replicated(0, 0))
		},
	} {
		for _, idle := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, idle=%v", driver, idle), func(t *testing.T) {
				t.Parallel()
				s := newSet(t, 1, opt)
				other := redistest.Start(t, opt)
				p := redistest.NewProxy(t, s.servers[0].Addr())
				n, err := open(p)
				c := failoverClient(t, opened(t, n, err), quarantined)
				votesNow(t, c)
				follow(t, other, s.servers[0])
				other.MustDo(t, "REPLICAOF", "NO", "ONE") // it has the guard, and does not get the lock
				gone := redistest.NewProxy(t, s.servers[0].Addr())
				s.urls[0] = gone.URL()
				lock(t, s.client(quarantined), "x")
				gone.Cut(true) // nobody calls the server any more

				// The master becomes a replica of the other server, and then a master again. The client makes no call
				// in this time, so it sees no error.
				before := received(t, s.servers[0])
				p.Break()
				follow(t, s.servers[0], other)
				s.servers[0].MustDo(t, "REPLICAOF", "NO", "ONE")
				start := time.Now()
				if idle { // the driver looks for another master before the client makes a call
					redistest.Eventually(t, 10*time.Second, "the driver to meet the master", func() bool {
						clients := strings.Split(s.servers[0].MustDo(t, "CLIENT", "LIST").(string), "\n")
						return received(t, s.servers[0]) > before && !slices.ContainsFunc(clients, func(c string) bool {
							return strings.Contains(c, "name=holdfast") && !strings.Contains(c, "cmd=info")
						})
					})
				}
				if l, err := c.Mutex("x").TryLock(t.Context()); err == nil {
					t.Errorf("a second holder, with token %d", l.Fence())
				}
				if a := admin.Nodes(t.Context(), c)[0]; a.Cause != verdict.CauseCopied {
					t.Errorf("the node: %s; want the cause %q", a, verdict.CauseCopied)
				}
				nobodyBefore(t, c, start, 3200*time.Millisecond)
			})
		}
	}
}

// An address without Sentinel leads to another master for a time, and then back to the first one. The first one was
// never a replica and has its guard. But the client met the other one.
func TestAMasterToWhichTheAddressComesBackHasForgotten(t *testing.T) {
	t.Parallel()
	for driver, open := range map[string]func(p *redistest.Proxy) (node.Node, error){
		"rueidis": func(p *redistest.Proxy) (node.Node, error) { return rueidisnode.New(p.URL() + "?replicated=true") },
		"go-redis": func(p *redistest.Proxy) (node.Node, error) {
			client := redis.NewClient(&redis.Options{Addr: p.Addr()})
			t.Cleanup(func() { _ = client.Close() })
			return goredisnode.New(client, goredisnode.Replicated(0, 0))
		},
	} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 1)
			other := redistest.Start(t)
			p := redistest.NewProxy(t, s.servers[0].Addr())
			n, err := open(p)
			c := failoverClient(t, opened(t, n, err))
			votesNow(t, c)
			s.vouch(other)
			move := func(to *redistest.Server) {
				p.Redirect(to.Addr())
				p.Break()
			}
			move(other)
			n, err = open(p)
			held := lock(t, failoverClient(t, opened(t, n, err)), "x", holdfast.WaitThroughOutages())
			redistest.Eventually(t, 10*time.Second, "the client to meet the other master", func() bool {
				_, err := c.Mutex("x").TryLock(t.Context())
				return errors.Is(err, holdfast.ErrHeld)
			})
			other.Kill()
			move(s.servers[0])
			if l, err := c.Mutex("x").TryLock(t.Context()); err == nil && held.Context().Err() == nil {
				t.Errorf("two holders: the tokens are %d and %d", held.Fence(), l.Fence())
			}
			// Both rules for such an address apply. A proof of the address finds that it led to several servers.
			if a := admin.Nodes(t.Context(), c)[0]; a.Cause != verdict.CauseSeveral && a.Cause != verdict.CauseNamed {
				t.Errorf("the node: %s; want the cause %q or %q", a, verdict.CauseSeveral, verdict.CauseNamed)
			}
			lock(t, c, "x", holdfast.WaitThroughOutages()).Unlock(t.Context())
			if held.Context().Err() == nil {
				t.Error("two holders after the quarantine")
			}
		})
	}
}

// received returns the number of connections that a server has had.
func received(t *testing.T, s *redistest.Server) (n int) {
	t.Helper()
	_, rest, _ := strings.Cut(s.MustDo(t, "INFO", "stats").(string), "total_connections_received:")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Without replicas that confirm it, a grant does not count, and leaves nothing.
func TestAGrantThatNoReplicaConfirmsDoesNotCount(t *testing.T) {
	t.Parallel()
	opt := redistest.Args("--repl-diskless-sync-delay", "0")
	for driver, open := range map[string]func(*redistest.Server) (node.Node, error){
		"rueidis": func(s *redistest.Server) (node.Node, error) {
			return rueidisnode.New(s.URL() + "?replicated=true&wait=1&wait-timeout=50ms")
		},
		"go-redis": func(s *redistest.Server) (node.Node, error) {
			client := redis.NewClient(&redis.Options{Addr: s.Addr()})
			t.Cleanup(func() { _ = client.Close() })
			return goredisnode.New(client, goredisnode.Replicated(1, 50*time.Millisecond))
		},
	} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 1, opt)
			replica := redistest.Start(t, opt)
			n, err := open(s.servers[0])
			c := failoverClient(t, opened(t, n, err))
			follow(t, replica, s.servers[0])
			votesNow(t, c)
			// On a busy machine, the replica may confirm a grant only after 50 ms, so the first grants may need some
			// tries.
			l := lock(t, c, "x", holdfast.WaitThroughOutages())
			lock(t, c, "y", holdfast.WaitThroughOutages()).Unlock(t.Context())

			replica.Freeze()
			began := time.Now()
			_, err = c.Mutex("y").TryLock(t.Context())
			var un *holdfast.UnavailableError
			if !errors.As(err, &un) || un.Nodes[0].Cause != verdict.CauseUnreplicated || !un.Nodes[0].Reachable() {
				t.Errorf("a grant without a replica: %v; want the cause %q", err, verdict.CauseUnreplicated)
			}
			t.Logf("TryLock after %s: %v", time.Since(began).Round(time.Millisecond), err)
			redistest.Eventually(t, 5*time.Second, "the grant to be given back", func() bool { return s.clean("y", 0) })
			if _, err := c.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
				t.Errorf("a name that is held, without a replica: %v; want ErrHeld", err)
			}
			select {
			case <-l.Context().Done():
			case <-time.After(5 * time.Second):
				t.Error("a lease is renewed although no replica confirms it")
			}

			replica.Thaw()
			lock(t, c, "x", holdfast.WaitThroughOutages()).Unlock(t.Context())
		})
	}
}
