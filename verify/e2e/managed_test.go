package e2e

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verdict"
)

// This file has servers as managed services offer them: without some commands, or as a part of a Redis Cluster.

func TestAServiceWithoutCONFIGIsANode(t *testing.T) {
	t.Parallel()
	for what, parameters := range map[string]string{"plain": "", "replicated": "?replicated=true"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 1, redistest.Without("CONFIG", "DEBUG", "SAVE", "BGSAVE", "SHUTDOWN", "REPLICAOF", "KEYS", "MONITOR"))
			s.urls[0] += parameters
			var out bytes.Buffer
			c := s.client(func(c *holdfast.Config) {
				c.Durable, c.Logger = true, slog.New(slog.NewTextHandler(&out, nil))
			})
			votesNow(t, c)
			lock(t, c, "x").Unlock(t.Context())
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(out.String(), "does not tell its settings (CONFIG GET)"); n != 1 {
				t.Errorf("%d warnings that durability is not checked; want 1: %s", n, &out)
			}
		})
	}
}

func TestAServerThatCannotBeANodeSaysWhy(t *testing.T) {
	t.Parallel()
	for what, test := range map[string]struct {
		user   string // its rights; "" for the default user
		opts   []redistest.Option
		want   string
		reason verdict.Reason
		cause  verdict.Cause
	}{
		"INFO renamed": {
			opts: []redistest.Option{redistest.Without("INFO")}, want: "it knows no INFO, which a node needs",
			reason: verdict.ReasonServerError, cause: node.NoInfo,
		},
		"EVAL renamed": {opts: []redistest.Option{redistest.Without("EVAL")}, want: "it knows no EVAL", reason: verdict.ReasonNoScripts},
		"INFO forbidden": {
			user: "+@all -info", want: "NOPERM", reason: verdict.ReasonServerError, cause: node.NoPerm,
		},
		"EVAL forbidden": {
			user: "+@all -eval", want: "NOPERM", reason: verdict.ReasonServerError, cause: node.NoPerm,
		},
		"SCRIPT renamed": {
			opts: []redistest.Option{redistest.Without("SCRIPT")}, want: "unknown command", reason: verdict.ReasonServerError,
		},
		"SCRIPT LOAD forbidden": {
			user: "+@all -script|load", want: "the 'script|load' command", reason: verdict.ReasonServerError, cause: node.NoPerm,
		},
		"TIME renamed": {
			opts: []redistest.Option{redistest.Without("TIME")}, want: "called from script", reason: verdict.ReasonServerError,
		},
		"TIME forbidden": {
			user: "+@all -time", want: "NOPERM", reason: verdict.ReasonServerError, cause: node.NoPerm,
		},
		"Redis Cluster": {
			opts: []redistest.Option{redistest.Args("--cluster-enabled", "yes")}, want: "use redis+cluster:// and list some servers of the cluster",
			reason: verdict.ReasonUnfit, cause: verdict.CauseCluster,
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, test.opts...)
			url, client := server.URL(), &redis.Options{Addr: server.Addr()}
			if test.user != "" {
				args := []any{"ACL", "SETUSER", "u", "on", ">pw", "~*", "&*"}
				for _, r := range strings.Fields(test.user) {
					args = append(args, r)
				}
				server.MustDo(t, args...)
				url, client.Username, client.Password = "redis://u:pw@"+server.Addr(), "u", "pw"
			}
			goredis := redis.NewClient(client)
			t.Cleanup(func() { _ = goredis.Close() })
			for driver, open := range map[string]func() (node.Node, error){
				"rueidis":              func() (node.Node, error) { return rueidisnode.New(url) },
				"rueidis, replicated":  func() (node.Node, error) { return rueidisnode.New(url + "?replicated=true") },
				"go-redis":             func() (node.Node, error) { return goredisnode.New(goredis) },
				"go-redis, replicated": func() (node.Node, error) { return goredisnode.New(goredis, goredisnode.Replicated(0, 0)) },
			} {
				n, err := open()
				c := failoverClient(t, opened(t, n, err))
				_, err = c.Mutex("x").TryLock(t.Context())
				var un *holdfast.UnavailableError
				if !errors.As(err, &un) {
					t.Fatalf("%s: TryLock: %v; want no quorum", driver, err)
				}
				a := un.Nodes[0]
				if a.Reason != test.reason || a.Cause != test.cause && test.cause != "" || !strings.Contains(a.Said(), test.want) {
					t.Errorf("%s: %s, %q, %q; want %s, %q, %q", driver, a.Reason, a.Cause, a.Said(), test.reason, test.cause, test.want)
				}
			}
		})
	}
}

// A user that may not wait for replicas gets no lock on a node that waits for them, and learns why.
func TestAUserWithoutWAITLearnsWhy(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	s.servers[0].MustDo(t, "ACL", "SETUSER", "u", "on", ">pw", "~*", "&*", "+@all", "-wait")
	s.urls[0] = "redis://u:pw@" + s.servers[0].Addr() + "?replicated=true&wait=1"
	c := s.client()
	votesNow(t, c)
	_, err := c.Mutex("x").TryLock(t.Context())
	if !errors.Is(err, holdfast.ErrUnavailable) || !strings.Contains(err.Error(), "the server refused WAIT: NOPERM") {
		t.Errorf("TryLock: %v; want the refusal of WAIT", err)
	}
	redistest.Eventually(t, 5*time.Second, "the grant to be given back", func() bool { return s.clean("x", 0) })
}

func TestAClusterClientSaysWhatToUse(t *testing.T) {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	defer client.Close()
	if _, err := goredisnode.New(client); err == nil || !strings.Contains(err.Error(), "use NewCluster") {
		t.Errorf("a client of a Redis Cluster: %v", err)
	}
}
