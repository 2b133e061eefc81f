package e2e

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/check/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
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
			n := c.Admin().Nodes(t.Context())[0]
			if want := setting + " is " + value; n.Reason != holdfast.ReasonUnfit || n.Value != value || !strings.Contains(n.Said(), want) {
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
	go func() { c.Admin().Nodes(context.Background()); close(done) }()
	<-greeted
	time.Sleep(20 * time.Millisecond)
	s.servers[0].Kill()
	s.servers[0].Restart()
	began := time.Now()
	<-done
	for time.Since(began) < 15*time.Second {
		n := a.Admin().Nodes(context.Background())[0]
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
