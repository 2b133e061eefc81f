package rueidisnode_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func TestWhatIsNoClusterIsRefused(t *testing.T) {
	t.Parallel()
	one, other, plain := redistest.StartCluster(t, 1, 0), redistest.StartCluster(t, 1, 0), redistest.Start(t)
	safe := redistest.StartCluster(t, 1, 0, redistest.Password("secret"), redistest.User("app", "p", "+@all", "-cluster"))
	hidden := redistest.StartCluster(t, 1, 0, redistest.Args("--cluster-announce-port", "1"))
	at := func(c *redistest.Cluster) string { return c.Addrs()[0] }
	for url, want := range map[string]struct{ says, code string }{
		plain.Addr():                  {"it is no Redis Cluster; use redis://", ""},
		at(one) + "," + plain.Addr():  {"it is no Redis Cluster; use redis://", ""},
		at(one) + "," + at(other):     {"belong to two clusters", ""},
		at(safe):                      {"put the password into the URL: redis+cluster://:PASSWORD@host", node.NoAuth},
		":wrong@" + at(safe):          {"the user and password of the URL are for all servers", node.WrongPass},
		"app:p@" + at(safe):           {"its user needs +cluster|nodes", node.NoPerm},
		at(hidden):                    {"announces the address 127.0.0.1:1, which cannot be reached from here: set cluster-announce-ip or", ""},
		"127.0.0.1:1":                 {"no server of the cluster answers: the server 127.0.0.1:1: connect:", ""},
		"127.0.0.1:1," + plain.Addr(): {"it is no Redis Cluster", ""},
		"127.0.0.1:1,x@" + at(safe):   {"percent-encoded", ""},
		at(one) + "/1":                {"database 0 only", ""},
		at(one) + "?replicated=false": {"leave the parameter out", ""},
		at(one) + "?sentinel-user=a":  {"want wait or wait-timeout", ""},
		at(one) + "?wait=-1":          {"must be from 0 to 100", ""},
		"":                            {"no host", ""},
		at(one) + ",":                 {"no host", ""},
		"u:SECRET,x@" + at(one):       {"percent-encoded", ""},
		at(one) + "?cacert=/nope":     {"cacert needs a URL over TLS, such as rediss://", ""},
	} {
		err := func() error {
			c, err := rueidisnode.NewCluster("redis+cluster://" + url)
			if err != nil {
				return err
			}
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err = c.Look(ctx)
			if c.Topology() != nil {
				t.Errorf("%s: there is a topology", url)
			}
			return err
		}()
		if err == nil || !strings.Contains(err.Error(), want.says) || node.Code(err) != want.code || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v; want %q", url, err, want)
		}
		if strings.Contains(want.says, "two clusters") && (!strings.Contains(err.Error(), at(one)) || !strings.Contains(err.Error(), at(other))) {
			t.Errorf("%s: %v; want both addresses", url, err)
		}
	}
	if _, err := rueidisnode.New("redis+cluster://a"); err == nil || !strings.Contains(err.Error(), "use NewCluster") {
		t.Errorf("New: %v", err)
	}
	if _, err := rueidisnode.NewCluster("redis://a"); err == nil || !strings.Contains(err.Error(), "want redis+cluster://") {
		t.Errorf("NewCluster of a node: %v", err)
	}
}

func TestAClusterIsFoundThroughOneOfItsSeeds(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 3, 0)
	hangs, err := net.Listen("tcp", "127.0.0.1:0") // its kernel accepts, and nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer hangs.Close()
	c := clustered(t, "redis+cluster://127.0.0.1:1,"+servers.Addrs()[2]+","+hangs.Addr().String())
	if now := c.Topology(); len(now.Shards) != 3 || now.Servers != 3 {
		t.Errorf("%+v", now.Shards)
	}
}

func TestAClosedClusterAnswersNothing(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 1, 0)
	c, err := rueidisnode.NewCluster("redis+cluster://" + servers.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	shard := shardOf(t, c, 0)
	c.Close()
	if r := evalSHA(t, shard.Node, counts(0))[0]; r.Err != node.ErrClosed {
		t.Errorf("after Close: %v", r.Err)
	}
	if _, err := c.Look(t.Context()); err != node.ErrClosed {
		t.Errorf("Look after Close: %v", err)
	}
	c.Close() // does nothing
}

func TestAClusterUsesPasswordAndTLS(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 1, 0, redistest.TLS(), redistest.Args("--tls-cluster", "yes"))
	server := servers.Servers()[0]
	server.MustDo(t, "ACL", "SETUSER", "app", "on", ">old", "~*", "&*", "+@all")
	url := func(password string) string {
		return strings.Replace(server.TLSURL(), "rediss://", "rediss+cluster://app:"+password+"@", 1)
	}
	var present atomic.Value
	present.Store(url("old"))
	c := clustered(t, url("wrong"), rueidisnode.TLSConfig(server.TLSConfig()), rueidisnode.Replicated(1, 0),
		rueidisnode.Rotating(func() (string, error) { return present.Load().(string), nil }))
	shard := shardOf(t, c, 0)
	works(t, shard.Node, counts(0))
	if want := strings.Replace(server.TLSURL(), "rediss://", "rediss+cluster://", 1); c.Addr() != want || shard.Node.Addr() != want+"/"+shard.Name[:8] {
		t.Errorf("the addresses are %s and %s", c.Addr(), shard.Node.Addr())
	}
	if shard.Master.Addr != strings.TrimPrefix(server.TLSURL(), "rediss://") {
		t.Errorf("the master is at %s", shard.Master.Addr)
	}
	server.MustDo(t, "ACL", "SETUSER", "app", ">new", "<old")
	present.Store(url("new"))
	server.MustDo(t, "CLIENT", "KILL", "USER", "app")
	works(t, shard.Node, counts(0))
	look(t, c)
	replication := node.Replication{Declared: true, Replicas: 1, Within: node.DefaultWithin}
	if r := shard.Node.(node.Replicated).Replication(); r != replication || c.Replication() != replication {
		t.Errorf("%+v and %+v are declared", r, c.Replication())
	}
	confirmed := counts(0)
	confirmed.Confirm = true
	if r := evalSHA(t, shard.Node, confirmed)[0]; r.Err != nil || r.Unconfirmed == nil {
		t.Errorf("without a replica: %+v; want an unconfirmed reply", r)
	}
}
