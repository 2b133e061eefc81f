package goredisnode_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/auth"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/nodetest"
)

func TestClusterConformance(t *testing.T) {
	nodetest.RunCluster(t, func(t *testing.T, a nodetest.Access) node.Cluster {
		t.Helper()
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: a.Seeds, Username: a.User, Password: a.Password, TLSConfig: a.TLS})
		defer client.Close() // the cluster has clients of its own
		c, err := goredisnode.NewCluster(client, goredisnode.Replicated(a.Wait, 0))
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}

func TestClusterClientsThatAreNoClusterAreRefused(t *testing.T) {
	slots := func(context.Context) ([]redis.ClusterSlot, error) { return nil, errors.New("not asked") }
	for want, o := range map[string]*redis.ClusterOptions{
		"cluster client has no addresses":       {},
		"cluster client is empty":               {Addrs: []string{"a", " "}},
		"has ClusterSlots":                      {Addrs: []string{"a"}, ClusterSlots: slots},
		"cluster a:6379,b:1: the number of rep": {Addrs: []string{"b:1", "A", "a:06379"}},
	} {
		client := redis.NewClusterClient(o)
		c, err := goredisnode.NewCluster(client, goredisnode.Replicated(-1, 0))
		if c != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v; want %q", o.Addrs, err, want)
		}
		client.Close()
	}
	if c, err := goredisnode.NewCluster(nil); c != nil || err == nil {
		t.Errorf("nil: %v, %v", c, err)
	}
}

// provider is a source of credentials that streams.
type provider struct{}

func (provider) Subscribe(auth.CredentialsListener) (auth.Credentials, auth.UnsubscribeFunc, error) {
	return auth.NewBasicCredentials("app", "p"), func() error { return nil }, nil
}

func TestAClusterUsesTheCredentialsAndTheDialerOfTheClient(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 1, 0, redistest.Password("x"), redistest.User("app", "p", "~*", "&*", "+@all"))
	for name, o := range map[string]*redis.ClusterOptions{
		"password":             {Username: "app", Password: "p"},
		"provider":             {CredentialsProvider: func() (string, string) { return "app", "p" }},
		"provider with errors": {CredentialsProviderContext: func(context.Context) (string, string, error) { return "app", "p", nil }},
		"streaming provider":   {StreamingCredentialsProvider: provider{}},
	} {
		var dials atomic.Int64
		o.Addrs = servers.Addrs()
		o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials.Add(1)
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
		client := redis.NewClusterClient(o)
		c, err := goredisnode.NewCluster(client)
		if err != nil {
			t.Fatal(err)
		}
		if used := dials.Load(); used != 0 {
			t.Errorf("%s: %d dials before the first call", name, used)
		}
		now, err := c.Look(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if r := now.Shards[0].Node.(node.Commander).Do(t.Context(), "ACL", "WHOAMI"); r.Value != "app" {
			t.Errorf("%s: %+v", name, r)
		}
		if dials.Load() < 2 {
			t.Errorf("%s: the dialer of the client made %d dials", name, dials.Load())
		}
		c.Close()
		client.Close()
	}
}
