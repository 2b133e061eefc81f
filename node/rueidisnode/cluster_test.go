package rueidisnode_test

import (
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/nodetest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func TestClusterConformance(t *testing.T) {
	nodetest.RunCluster(t, func(t *testing.T, a nodetest.Access) node.Cluster {
		t.Helper()
		text, opts := "redis+cluster://", []rueidisnode.Option(nil)
		if a.TLS != nil {
			text, opts = "rediss+cluster://", append(opts, rueidisnode.TLSConfig(a.TLS))
		}
		if a.Password != "" {
			text += url.UserPassword(a.User, a.Password).String() + "@"
		}
		text += strings.Join(a.Seeds, ",")
		if a.Wait > 0 {
			text += "?wait=" + strconv.Itoa(a.Wait)
		}
		c, err := rueidisnode.NewCluster(text, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}

func TestURLsThatAreNoClusterAreRefused(t *testing.T) {
	for url, want := range map[string]string{
		"redis://a":                           "want redis+cluster://",
		"http+cluster://a":                    "unknown scheme",
		"redis+cluster://":                    "no host",
		"redis+cluster://a,":                  "no host",
		"redis+cluster://a:x":                 "percent-encoded",
		"redis+cluster://a/1":                 "a Redis Cluster has database 0 only",
		"redis+cluster://a/x":                 "the database is not a number",
		"redis+cluster://a?replicated=false":  "leave the parameter out",
		"redis+cluster://a?sentinel-user=S":   "want wait or wait-timeout",
		"redis+cluster://a?wait=-1":           "must be from 0 to 100",
		"redis+cluster://a?cacert=/nope":      "cacert needs a URL over TLS, such as rediss://",
		"rediss+cluster://a?cacert=/nope":     "cacert: stat /nope",
		"redis+cluster://u:SECRET,x@a":        "percent-encoded",
		"redis+cluster://a,u:SECRET@b":        "percent-encoded",
		"redis+cluster://u:SECRET@a,b!":       "the host is neither",
		"redis+cluster://a,redis+cluster://b": "several URLs in one text",
	} {
		c, err := rueidisnode.NewCluster(url)
		if c != nil || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%q: %v; want %q", url, err, want)
		}
	}
	if _, err := rueidisnode.New("redis+cluster://a"); err == nil || !strings.Contains(err.Error(), "use NewCluster") {
		t.Errorf("New: %v", err)
	}
	if _, err := rueidisnode.NewCluster("redis+cluster://a", rueidisnode.TLSConfig(nil)); err == nil {
		t.Error("a bad option is accepted")
	}
	c, err := rueidisnode.NewCluster("valkeys+cluster://u:p@B:7001,a,[::1],A:06379/0?wait=2&wait-timeout=50ms")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if want := "rediss+cluster://[::1]:6379,a:6379,b:7001"; c.Addr() != want || c.Replication().Replicas != 2 {
		t.Errorf("%s, %+v; want %s", c.Addr(), c.Replication(), want)
	}
}

// The questions for the topology, and new connections of the shards, use the new password.
func TestAPasswordChangesWhileAClusterIsInUse(t *testing.T) {
	t.Parallel()
	server := redistest.StartCluster(t, 1, 0).Servers()[0]
	server.MustDo(t, "ACL", "SETUSER", "app", "on", ">old", "~*", "&*", "+@all")
	url := func(password string) string { return "redis+cluster://app:" + password + "@" + server.Addr() }
	var present atomic.Value
	present.Store(url("old"))
	c, err := rueidisnode.NewCluster(url("wrong"), rueidisnode.Rotating(func() (string, error) { return present.Load().(string), nil }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	topology, err := c.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask := func() error { return topology.Shards[0].Node.Eval(t.Context(), `return 'in'`, node.Call{}).Err }
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	server.MustDo(t, "ACL", "SETUSER", "app", ">new", "<old")
	server.MustDo(t, "CLIENT", "KILL", "USER", "app")
	if _, err := c.Look(t.Context()); node.Code(err) != node.WrongPass {
		t.Errorf("with the old password: %v", err)
	}
	present.Store(url("new"))
	if _, err := c.Look(t.Context()); err != nil {
		t.Errorf("with the new password: %v", err)
	}
	redistest.Eventually(t, 20*time.Second, "a connection with the new password", func() bool { return ask() == nil })
}
