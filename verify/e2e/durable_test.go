package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verdict"
)

// A durable node votes again at once after a restart. So a node that answers before all data is on disk must not vote.
// Its refusal must give the reason.
func TestANodeThatIsNotAsDurableAsDeclaredIsRefused(t *testing.T) {
	t.Parallel()
	for setting, value := range map[string]string{"no-appendfsync-on-rewrite": "yes", "appendfsync": "everysec"} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 1, redistest.Durable())
			s.servers[0].MustDo(t, "CONFIG", "SET", setting, value)
			c := s.client(func(c *holdfast.Config) { c.Durable = true })
			n := admin.Nodes(t.Context(), c)[0]
			if want := setting + " is " + value; n.Reason != verdict.ReasonUnfit || n.Value != value || !strings.Contains(n.Said(), want) {
				t.Fatalf("the node is %q; want %q", n, want)
			}
			if _, err := c.Mutex("x").TryLock(t.Context()); err == nil {
				t.Error("locked on it")
			}
			s.servers[0].MustDo(t, "CONFIG", "SET", "no-appendfsync-on-rewrite", "no", "appendfsync", "always")
			s.ready(c)
		})
	}
}

// If the client may not read the settings, it trusts the operator and logs that it does.
func TestWhatADurableNodeDoesNotTellIsLogged(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1, redistest.Durable(), redistest.Args("--no-appendfsync-on-rewrite", "yes"))
	s.servers[0].MustDo(t, "ACL", "SETUSER", "holdfast", "on", ">pw", "~*", "&*", "+@all", "-config")
	var log written
	s.ready(s.client(func(c *holdfast.Config) {
		nodes, err := rueidisnode.Open(strings.Replace(s.urls[0], "redis://", "redis://holdfast:pw@", 1))
		if err != nil {
			t.Fatal(err)
		}
		c.Nodes, c.Durable, c.Logger = nodes, true, slog.New(slog.NewTextHandler(&log, nil))
	}))
	redistest.Eventually(t, 10*time.Second, "the log to say that nothing was checked", func() bool {
		return strings.Contains(log.String(), "that it is durable is not checked")
	})
}

// An operator looks at a durable set (holdfast nodes) while its nodes restart.
func TestALookWhileADurableNodeRestartsCostsNoGuard(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3, redistest.Durable())
	declare := func(c *holdfast.Config) { c.MaxTTL, c.TTL, c.Durable = 10*time.Second, 10*time.Second, true }
	a := s.ready(s.client(declare))
	l := lock(t, a, "x")
	var ways []*redistest.Proxy
	var urls []string
	for _, srv := range s.servers {
		p := redistest.NewProxy(t, srv.Addr())
		ways, urls = append(ways, p), append(urls, p.URL())
	}
	direct := s.urls
	s.urls = urls
	greeted := make(chan bool, 100)
	for i, p := range ways {
		if i > 0 {
			p.DelayRequests(90 * time.Millisecond)
		}
		p.Treat(func(c []string) redistest.Treatment {
			if len(c) > 1 && strings.EqualFold(c[0], "EVAL") && i == 0 {
				select {
				case greeted <- true:
				default:
				}
			}
			return redistest.Treatment{}
		})
	}
	c := s.client(declare, func(c *holdfast.Config) { c.NodeTimeout = 3 * time.Second })
	s.urls = direct
	done := make(chan bool)
	go func() { admin.Nodes(context.Background(), c); close(done) }()
	<-greeted
	time.Sleep(20 * time.Millisecond)
	s.servers[0].Kill()
	s.servers[0].Restart()
	began := time.Now()
	<-done
	for time.Since(began) < 15*time.Second {
		n := admin.Nodes(context.Background(), a)[0]
		if n.Votes() {
			break
		}
		if took := time.Since(began); took > time.Second && took < 1060*time.Millisecond {
			t.Logf("%s", n)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if took := time.Since(began); took > 5*time.Second { // the quarantine would take 10.2 s
		t.Errorf("a durable node did not vote for %s after a restart; the lease: %v", took, context.Cause(l.Context()))
	}
}

// A durable set loses its power, and its machines have no battery clock. The machines boot with clocks a minute behind,
// and the clocks are set right a moment later.
func TestADurableSetAfterAPowerCut(t *testing.T) {
	t.Parallel()
	for _, behind := range []time.Duration{0, time.Minute} {
		t.Run(behind.String(), func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 3, redistest.Durable(), redistest.WithClock())
			declare := func(c *holdfast.Config) { c.MaxTTL, c.TTL, c.Durable = 6*time.Second, 6*time.Second, true }
			a := s.ready(s.client(declare))
			time.Sleep(7 * time.Second) // during this time clients see the set's servers at work
			lock(t, a, "x").Unlock(t.Context())
			s.each(all(3), func(srv *redistest.Server) { srv.Kill(); srv.Step(-behind); srv.Restart(); srv.Step(0) })
			began := time.Now()
			for {
				l, err := a.Mutex("x").TryLock(t.Context())
				if err == nil {
					l.Unlock(t.Context())
					break
				}
				if took := time.Since(began); took > 5*time.Second && took < 5100*time.Millisecond {
					t.Logf("%.300s", err)
				}
				time.Sleep(50 * time.Millisecond)
			}
			if took := time.Since(began); took > 5*time.Second { // the quarantine would take 6.2 s
				t.Errorf("clocks %s behind at boot: no lock for %s after the restart of a durable set", behind, took)
			} else {
				t.Logf("clocks %s behind at boot: a lock after %s", behind, took)
			}
		})
	}
}

// A restarted master may have a second replication id, as a promoted replica has, because its RDB file keeps the id
// from before. A durable master reads its AOF instead, and votes at once.
func TestADurableMasterWithAReplicaVotesAgainAtOnce(t *testing.T) {
	t.Parallel()
	for how, last := range map[string][]any{"RDB file": {"SAVE"}, "rewritten AOF": {"BGREWRITEAOF"}, "shutdown": {"SHUTDOWN", "SAVE"}} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			quick := redistest.Args("--repl-diskless-sync-delay", "0")
			s := newSet(t, 1, redistest.Durable(), quick)
			master, replica := s.servers[0], redistest.Start(t, quick)
			declare := func(c *holdfast.Config) { c.MaxTTL, c.NodeTimeout, c.Durable = 10*time.Second, 2*time.Second, true }
			a, b := s.ready(s.client(declare)), s.ready(s.client(declare))
			follow(t, replica, master)
			lock(t, a, "x")
			redistest.Eventually(t, 20*time.Second, "the server to accept its last command", func() bool {
				_, err := master.Do(last...) // SAVE fails while the server sends its data to the replica
				return err == nil || how == "shutdown"
			})
			if how == "rewritten AOF" {
				redistest.Eventually(t, 20*time.Second, "the AOF to be rewritten", func() bool {
					return strings.Contains(master.MustDo(t, "INFO", "persistence").(string), "\r\naof_rewrite_in_progress:0\r\n")
				})
			}
			master.Kill()
			master.Restart()
			if n := admin.Nodes(t.Context(), b)[0]; !n.Votes() {
				t.Errorf("after the restart of a durable master the node says %q; want its vote", n)
			}
			if _, err := b.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
				t.Errorf("TryLock: %v; want ErrHeld", err)
			}
			follow(t, replica, master) // the master gets another replication id
			if n := admin.Nodes(t.Context(), b)[0]; !n.Votes() {
				t.Errorf("with its replica again, the node says %q; want its vote", n)
			}
		})
	}
}

// A node of a durable set that has no AOF reads its RDB file, which lacks the last lock. So it has a quarantine.
func TestADurableNodeWithoutAnAOFHasForgotten(t *testing.T) {
	t.Parallel()
	for _, replicas := range []int{0, 1} {
		t.Run(fmt.Sprint(replicas), func(t *testing.T) {
			t.Parallel()
			quick := redistest.Args("--repl-diskless-sync-delay", "0")
			s := newSet(t, 1, quick)
			master := s.servers[0]
			declare := func(c *holdfast.Config) { c.MaxTTL, c.NodeTimeout, c.Durable = 10*time.Second, 2*time.Second, true }
			a, b := s.ready(s.client(declare)), s.ready(s.client(declare))
			for range replicas {
				follow(t, redistest.Start(t, quick), master)
			}
			redistest.Eventually(t, 20*time.Second, "the server to save its data", func() bool {
				_, err := master.Do("SAVE") // it fails while the server sends its data to the replica
				return err == nil
			})
			lock(t, a, "x")
			master.Kill()
			master.Restart()
			info := master.MustDo(t, "INFO", "replication").(string)
			if second := !strings.Contains(info, "\r\nmaster_replid2:0000000000"); second != (replicas > 0) {
				t.Errorf("a master with %d replicas has a second replication id after its restart: %t", replicas, second)
			}
			if n := admin.Nodes(t.Context(), b)[0]; n.Votes() || n.Cause != verdict.CauseRestarted {
				t.Errorf("after a restart from the RDB file the node says %q; want a quarantine", n)
			}
		})
	}
}
