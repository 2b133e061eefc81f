package goredisnode_test

import (
	"context"
	"errors"
	"net"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
)

func TestWhatIsNoSingleServerIsRefused(t *testing.T) {
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"10.0.0.1:6379"}})
	defer cluster.Close()
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "10.0.0.1:6379"}})
	defer ring.Close()
	for want, c := range map[string]redis.UniversalClient{
		"a Redis Cluster is no single node; use NewCluster": cluster,
		"Ring is not supported":                             ring,
		"client is nil":                                     nil,
		"go-redis client is nil":                            (*redis.Client)(nil),
	} {
		if n, err := goredisnode.New(c); n != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: %v, %v; want %q", c, n, err, want)
		}
	}
}

// Each reign of a master has a new go-redis client. The callers wait for it, so it must not wait for a name server.
func TestNewResolvesNoName(t *testing.T) {
	var resolved atomic.Int64
	before := net.DefaultResolver
	defer func() { net.DefaultResolver = before }()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		resolved.Add(1)
		return nil, errors.New("there is no name server")
	}}
	client := redis.NewClient(&redis.Options{Addr: "node.holdfast.test:6379"})
	defer client.Close()
	if resolved.Load() == 0 {
		t.Fatal("go-redis resolves no name for its own client: this test needs another way to hang a name server")
	}
	resolved.Store(0)
	n, err := goredisnode.New(client)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if n := resolved.Load(); n > 0 {
		t.Errorf("New asked a name server %d times", n)
	}
}

func TestOpenNamesTheBadClient(t *testing.T) {
	a, b := redis.NewClient(&redis.Options{Addr: "10.0.0.1:6379"}), redis.NewClient(&redis.Options{Addr: "10.0.0.2:6379"})
	defer a.Close()
	defer b.Close()
	for want, clients := range map[string][]redis.UniversalClient{
		"goredisnode: client 2 of 2: go-redis client is nil":                                      {a, nil},
		"goredisnode: client 3 of 3: node redis://10.0.0.1:6379/0: is listed before, as number 1": {a, b, a},
		"goredisnode: no client was given":                                                        nil,
	} {
		if nodes, err := goredisnode.Open(clients...); nodes != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want %q", nodes, err, want)
		}
	}
	nodes, err := goredisnode.Open(b, a)
	if err != nil || len(nodes) != 2 || nodes[0].Addr() != "redis://10.0.0.2:6379/0" {
		t.Fatalf("%v, %v", nodes, err)
	}
	for _, n := range nodes {
		n.Close()
	}
}

func TestGivenClientIsLeftAlone(t *testing.T) {
	server := redistest.Start(t)
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: 7, MinIdleConns: 0, ReadTimeout: time.Minute})
	defer c.Close()
	before := *c.Options()
	n, err := goredisnode.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if r := n.Eval(t.Context(), `return 'in'`, node.Call{}); r.Value != "in" {
		t.Error(r)
	}
	if used := c.PoolStats(); used.Misses+used.Hits != 0 {
		t.Errorf("its pool was used: %+v", used)
	}
	n.Close()
	after := *c.Options()
	for _, o := range []*redis.Options{&before, &after} {
		o.Dialer = nil // functions cannot be compared
	}
	if !reflect.DeepEqual(before, after) {
		t.Errorf("its options changed:\n%+v\n%+v", before, after)
	}
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Errorf("it was closed: %v", err)
	}
}

// A call without a deadline must end even if the program's client has no timeouts, or timeouts that are too long for a
// lock.
func TestHungConnectionEndsACallWithoutDeadline(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), ReadTimeout: -2, WriteTimeout: -2, DialTimeout: time.Hour})
	defer c.Close()
	n, err := goredisnode.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if r := n.Eval(t.Context(), `return 'in'`, node.Call{}); r.Err != nil {
		t.Fatal(r)
	}
	server.Freeze()
	begin := time.Now()
	r := n.Eval(t.Context(), `return 'in'`, node.Call{})
	if took := time.Since(begin); !node.Timeout(r.Err) || node.Unsent(r.Err) || took > 15*time.Second {
		t.Errorf("%v after %v", r, took)
	}
}

// Calls that were given up must not occupy connections of the pool for the whole ioTimeout.
func TestGivenUpCallsFreeTheirConnections(t *testing.T) {
	t.Parallel()
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	c := redis.NewClient(&redis.Options{Addr: proxy.Addr()})
	defer c.Close()
	n, err := goredisnode.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	proxy.DelayReplies(time.Minute)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			n.Eval(ctx, `return 'lost'`, node.Call{})
		})
	}
	wg.Wait()
	proxy.DelayReplies(0)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if r := n.Eval(ctx, `return 'in'`, node.Call{}); r.Value != "in" {
		t.Errorf("%q, %v", r.Value, r.Err)
	}
}

func TestTLSAndPasswordAreTakenOver(t *testing.T) {
	server := redistest.Start(t, redistest.TLS(), redistest.Password("secret"))
	c := redis.NewClient(&redis.Options{Addr: strings.TrimPrefix(server.TLSURL(), "rediss://"), TLSConfig: server.TLSConfig(), Password: "secret"})
	defer c.Close()
	n, err := goredisnode.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if n.Addr() != server.TLSURL()+"/0" {
		t.Errorf("address %s, want %s/0", n.Addr(), server.TLSURL())
	}
	if r := n.Eval(t.Context(), `return 'in'`, node.Call{}); r.Value != "in" {
		t.Error(r)
	}
}
