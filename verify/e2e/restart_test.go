package e2e

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// quarantined sets a quarantine (3.2 s) that is longer than a lock's TTL (2 s). So a test can distinguish the two
// causes of a wait.
func quarantined(c *holdfast.Config) {
	c.MaxTTL, c.TTL, c.NodeTimeout = 3*time.Second, 2*time.Second, 2*time.Second
}

// forgetful makes a set of five nodes, and a lock of a client that then stops, as a frozen process does. The nodes get
// no message from this client any more, not even a release.
func forgetful(t *testing.T, opts ...redistest.Option) (s *set, competitor *holdfast.Client) {
	t.Helper()
	s = newSet(t, 5, opts...)
	direct := s.urls
	var proxies []*redistest.Proxy
	s.urls = nil
	for _, srv := range s.servers {
		p := redistest.NewProxy(t, srv.Addr())
		proxies = append(proxies, p)
		s.urls = append(s.urls, p.URL())
	}
	holder := s.ready(s.client(quarantined))
	lock(t, holder, "x", holdfast.WithTTL(3*time.Second))
	for _, p := range proxies {
		p.BlackHole(true)
	}
	s.urls = direct
	return s, s.client(quarantined)
}

// nobodyBefore fails the test if c gets the lock before the time quarantine has passed since start.
func nobodyBefore(t *testing.T, c *holdfast.Client, start time.Time, quarantine time.Duration) {
	t.Helper()
	lock(t, c, "x", holdfast.WaitThroughOutages()).Unlock(t.Context())
	if waited := time.Since(start); waited < quarantine {
		t.Errorf("acquired %s after a majority forgot the lock; want at least MaxTTL + W = %s", waited, quarantine)
	} else {
		t.Logf("acquired %s after a majority forgot", waited.Round(time.Millisecond))
	}
}

func TestARestartedMajorityDoesNotVoteForMaxTTL(t *testing.T) {
	t.Parallel()
	s, c := forgetful(t)
	start := time.Now()
	s.each(all(3), func(srv *redistest.Server) { srv.Kill(); srv.Restart() })
	if _, err := c.Mutex("x").TryLock(t.Context()); err == nil {
		t.Fatal("acquired at once")
	}
	for i, n := range admin.Nodes(t.Context(), c)[:3] {
		if n.Votes() || n.VotesIn <= 0 || n.VotesIn > 3200*time.Millisecond || n.Reason != verdict.ReasonQuarantined {
			t.Errorf("node %d: %+v; want a quarantine of at most MaxTTL + W", i, n)
		}
	}
	nobodyBefore(t, c, start, 3200*time.Millisecond)
}

func TestAFlushedMajorityDoesNotVoteForMaxTTL(t *testing.T) {
	t.Parallel()
	s, c := forgetful(t)
	s.ready(c)
	start := time.Now()
	s.each(all(3), func(srv *redistest.Server) { srv.MustDo(t, "FLUSHALL") })
	nobodyBefore(t, c, start, 3200*time.Millisecond)
}

func TestAMajorityThatEvictedKeysDoesNotVoteForMaxTTL(t *testing.T) {
	t.Parallel()
	s, c := forgetful(t)
	s.ready(c)
	start := time.Now()
	s.each(all(3), func(srv *redistest.Server) {
		srv.MustDo(t, "CONFIG", "SET", "maxmemory-policy", "allkeys-random")
		srv.MustDo(t, "CONFIG", "SET", "maxmemory", "1")
		redistest.Eventually(t, 5*time.Second, "everything to be evicted", func() bool {
			srv.Do("GET", "anything") // this command makes the server evict
			n, err := srv.Do("DBSIZE")
			return err == nil && n == int64(0)
		})
		// With a full memory the server would answer OOM to all commands.
		srv.MustDo(t, "CONFIG", "SET", "maxmemory", "100mb")
	})
	if _, err := c.Mutex("x").TryLock(t.Context()); err == nil {
		t.Fatal("acquired at once")
	}
	for i, n := range admin.Nodes(t.Context(), c)[:3] {
		if n.Reason != verdict.ReasonUnfit || n.Cause != verdict.CausePolicy || n.Value != "allkeys-random" {
			t.Errorf("node %d: %+v; want the policy named", i, n)
		}
	}
	s.each(all(3), func(srv *redistest.Server) {
		srv.MustDo(t, "CONFIG", "SET", "maxmemory", "0")
		srv.MustDo(t, "CONFIG", "SET", "maxmemory-policy", "noeviction")
	})
	nobodyBefore(t, c, start, 3200*time.Millisecond)
}

// A voting node is switched to a policy that evicts keys. It evicts keys that were unused for a while: the record of an
// idle lock, but not the guard, which every call reads.
func TestARecordThatWasEvictedAloneIsNotForgotten(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"allkeys-lru", "volatile-lru"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 1)
			srv, direct := s.servers[0], s.urls
			other := s.ready(s.client(quarantined))
			way := redistest.NewProxy(t, srv.Addr())
			s.urls = []string{way.URL()}
			holder := s.ready(s.client(quarantined))
			s.urls = direct

			l := lock(t, holder, "x", holdfast.WithTTL(3*time.Second))
			way.BlackHole(true) // the holder cannot renew any more, so its record is idle
			busy := func() {
				if o, err := other.Mutex("other").TryLock(t.Context()); err == nil {
					o.Unlock(t.Context())
				}
			}
			redistest.Eventually(t, 3*time.Second, "the record to be idle", func() bool {
				busy()
				idle, err := srv.Do("OBJECT", "IDLETIME", nodescript.RecordKey("x"))
				return err == nil && idle.(int64) >= 1
			})
			srv.MustDo(t, "CONFIG", "SET", "maxmemory-samples", 60)
			srv.MustDo(t, "CONFIG", "SET", "maxmemory-policy", policy)
			evicts(t, srv, busy, nodescript.RecordKey("x"), "x")
			srv.MustDo(t, "CONFIG", "SET", "maxmemory-policy", "noeviction")

			second, err := other.Mutex("x").TryLock(t.Context())
			if err == nil && time.Now().Before(l.Deadline()) {
				t.Errorf("two holders: token %d and, for another %s, %d", second.Fence(), time.Until(l.Deadline()), l.Fence())
			}
			if n := admin.Nodes(t.Context(), other)[0]; n.Votes() || n.VotesIn <= 0 {
				t.Errorf("the node: %+v; want a quarantine", n)
			}
			nobodyBefore(t, other, l.Deadline(), 0)
		})
	}
}

// evicts makes a server evict slowly until these keys are gone. busy uses the keys that must not become idle.
func evicts(t *testing.T, srv *redistest.Server, busy func(), keys ...string) {
	t.Helper()
	redistest.Eventually(t, 5*time.Second, "the lock's keys to be evicted", func() bool {
		busy()
		srv.MustDo(t, "EVAL", "for i = 1, 300 do redis.call('SET', 'filler' .. i, string.rep('x', 1000), 'PX', 36000000) end", 0)
		_, rest, _ := strings.Cut(srv.MustDo(t, "INFO", "memory").(string), "\nused_memory:")
		text, _, _ := strings.Cut(rest, "\r")
		used, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		srv.MustDo(t, "CONFIG", "SET", "maxmemory", used-2000)
		srv.Do("PING") // this command makes the server evict
		srv.MustDo(t, "CONFIG", "SET", "maxmemory", 0)
		args := []any{"EXISTS"}
		for _, k := range keys {
			args = append(args, k)
		}
		return srv.MustDo(t, args...) == int64(0)
	})
}

func TestAPromotedReplicaDoesNotVoteForMaxTTL(t *testing.T) {
	t.Parallel()
	for _, durable := range []bool{false, true} {
		t.Run(fmt.Sprintf("durable=%v", durable), func(t *testing.T) {
			t.Parallel()
			opts := []redistest.Option{redistest.Args("--repl-diskless-sync-delay", "0")}
			if durable {
				opts = append(opts, redistest.Durable())
			}
			s := newSet(t, 1, opts...)
			replica := redistest.Start(t, withUsers(opts)...)
			declare := func(c *holdfast.Config) { quarantined(c); c.Durable = durable }
			s.ready(s.client(declare))
			follow(t, replica, s.servers[0])

			// The replica replaces the master: the node keeps its name, but it is now another server.
			s.servers[0].Kill()
			replica.MustDo(t, "REPLICAOF", "NO", "ONE")
			start := time.Now()
			s.urls[0] = replica.URL()
			c := s.client(declare)
			_, err := c.Mutex("x").TryLock(t.Context())
			if !errors.Is(err, holdfast.ErrUnavailable) || !strings.Contains(err.Error(), "quarantined") {
				t.Errorf("TryLock at a promoted replica: %v; want a quarantine", err)
			}
			nobodyBefore(t, c, start, 3200*time.Millisecond)
		})
	}
}

// A master that was a replica for a moment keeps its run id and its scripts, because Redis 7 forgets scripts only at a
// restart. Even the guard that it finds may be its own.
func TestAMasterThatWasAReplicaInBetweenDoesNotVoteForMaxTTL(t *testing.T) {
	t.Parallel()
	opt := redistest.Args("--repl-diskless-sync-delay", "0")
	s := newSet(t, 1, opt)
	stale := redistest.Start(t, opt)
	c := s.ready(s.client(quarantined))
	follow(t, stale, s.servers[0])
	stale.MustDo(t, "REPLICAOF", "NO", "ONE") // stale has the guard, but will not get the lock
	l := lock(t, c, "x")

	follow(t, s.servers[0], stale)
	start := time.Now()
	<-l.Context().Done() // the lease's renewals meet a replica
	s.servers[0].MustDo(t, "REPLICAOF", "NO", "ONE")
	nobodyBefore(t, c, start, 3200*time.Millisecond)
}

// follow makes replica a replica of master. It waits until replica has all data.
func follow(t *testing.T, replica, master *redistest.Server) {
	t.Helper()
	replica.MustDo(t, "REPLICAOF", "127.0.0.1", master.Port())
	redistest.Eventually(t, 10*time.Second, "the replica to be in sync", func() bool {
		v, err := replica.Do("INFO", "replication")
		info, _ := v.(string)
		return err == nil && strings.Contains(info, "master_link_status:up")
	})
}

func TestADurableNodeVotesAgainAtOnce(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5, redistest.Durable())
	durable := func(c *holdfast.Config) {
		// The lease must last longer than slow restarts.
		c.MaxTTL, c.NodeTimeout, c.Durable = 10*time.Second, 2*time.Second, true
	}
	a, b := s.ready(s.client(durable)), s.ready(s.client(durable))
	l := lock(t, a, "x")
	s.each(all(5), func(srv *redistest.Server) { srv.Kill(); srv.Restart() })
	start := time.Now()
	lock(t, b, "y")
	t.Logf("acquired %s after all nodes restarted", time.Since(start).Round(time.Millisecond))
	if waited := time.Since(start); waited > 5*time.Second { // the quarantine would take 10.2 s
		t.Errorf("acquired %s after the restart of durable nodes; want no quarantine", waited)
	}
	if _, err := b.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("durable nodes forgot a lock over a restart: %v", err)
	}
	if err := context.Cause(l.Context()); err != nil {
		t.Errorf("the lease did not survive the restart of durable nodes: %v", err)
	}
}

func TestClientsThatMeetARestartedNodeAtOnceAgree(t *testing.T) {
	t.Parallel()
	s := bareSet(t, 1)
	var wait sync.WaitGroup
	start := time.Now()
	ends := make([]time.Time, 3)
	for i := range ends {
		c := s.client(quarantined)
		wait.Go(func() {
			n := admin.Nodes(t.Context(), c)[0]
			ends[i] = time.Now().Add(n.VotesIn)
			if n.Votes() || n.VotesIn <= 0 {
				t.Errorf("client %d: %v; want a quarantine", i, n)
			}
			if l, err := c.Mutex("x").Lock(t.Context()); err != nil {
				t.Error(err)
			} else if time.Since(start) < 3*time.Second {
				t.Errorf("client %d was let in after %s", i, time.Since(start))
			} else {
				l.Unlock(t.Context())
			}
		})
	}
	wait.Wait()
	for i := range ends {
		if d := ends[i].Sub(ends[0]).Abs(); d > 500*time.Millisecond {
			t.Errorf("clients 0 and %d were told ends of the quarantine %s apart", i, d)
		}
	}
}

func TestAFreshScriptVersionIsAdmittedWithoutQuarantine(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client(func(c *holdfast.Config) { c.NodeTimeout = 2 * time.Second }))
	lock(t, c, "x").Unlock(t.Context())

	n := s.dial(0)
	hello, err := nodescript.ParseHello(n.Eval(t.Context(), nodescript.HelloText(), node.Call{}))
	if err != nil {
		t.Fatal(err)
	}
	set := s.config()
	next := nodescript.NewScripts(set, hello.Run)
	var newer []string
	for _, text := range next.Load() {
		newer = append(newer, text+"\n-- a later release of Holdfast")
	}
	a := nodescript.ParseAdmit(set, n.Eval(t.Context(), next.Admit, nodescript.AdmitCall(hello.Time, set.Window, "", "", false), newer...))
	if a.Verdict != nodescript.Done {
		t.Errorf("a client with newer scripts was answered %+v; want to be admitted", a)
	}
	if l, err := c.Mutex("x").TryLock(t.Context()); err != nil {
		t.Errorf("the older client does not go on beside it: %v", err)
	} else {
		l.Unlock(t.Context())
	}
}

func TestAClientOfAnotherConfigurationIsRefusedByName(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	lock(t, s.ready(s.client()), "x")
	cases := []struct {
		what   string
		change func(*holdfast.Config)
		both   []string
	}{
		{"MaxTTL", func(c *holdfast.Config) { c.MaxTTL = 3 * time.Second }, []string{"max-ttl=2s", "max-ttl=3s"}},
		{"Window", func(c *holdfast.Config) { c.Window = 50 * time.Millisecond }, []string{"window=200ms", "window=50ms"}},
		{"Durable", func(c *holdfast.Config) { c.Durable = true }, []string{"durable=no", "durable=yes"}},
		{"Cluster", func(c *holdfast.Config) { c.Cluster = "other" }, []string{"cluster=test", "cluster=other"}},
		{"N", func(c *holdfast.Config) { c.Nodes = []node.Node{s.dial(0)} }, []string{"nodes=3", "nodes=1"}},
	}
	for _, tc := range cases {
		_, err := s.client(tc.change).Mutex("y").TryLock(t.Context())
		if !errors.Is(err, holdfast.ErrUnavailable) || !strings.Contains(err.Error(), "configuration differs") {
			t.Errorf("another %s: %v; want a refusal", tc.what, err)
			continue
		}
		for _, value := range tc.both {
			if !strings.Contains(err.Error(), value) {
				t.Errorf("another %s: %v; want %q named", tc.what, err, value)
			}
		}
	}
}

func TestTrustMakesNodesTakeAnotherConfiguration(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	s.ready(s.client()).Close()
	longer := s.client(func(c *holdfast.Config) { c.MaxTTL = 3 * time.Second })
	for _, n := range admin.Trust(t.Context(), longer) {
		if n.Err != nil || n.Reason != verdict.ReasonQuarantined || n.Cause != verdict.CauseVouched {
			t.Fatalf("after Trust: %+v", n)
		}
	}
	lock(t, s.ready(longer), "x", holdfast.WithTTL(3*time.Second))
	if _, err := s.client().Mutex("x").TryLock(t.Context()); err == nil || !strings.Contains(err.Error(), "configuration differs") {
		t.Errorf("a client of the old configuration: %v", err)
	}
}

func TestAScriptFlushGoesUnnoticed(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client())
	l := lock(t, c, "x")
	for range 3 {
		s.each(all(3), func(srv *redistest.Server) { srv.MustDo(t, "SCRIPT", "FLUSH") })
		redistest.Eventually(t, 10*time.Second, "a renewal in spite of the flush", func() bool {
			return l.Extend(t.Context(), settings().MaxTTL) == nil
		})
	}
	if err := l.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
}
