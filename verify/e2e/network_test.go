package e2e

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// This file contains the network of the kit: a proxy per node, and the two drivers.

// network is the way of one client to the nodes. Its faults affect no other client.
type network []*redistest.Proxy

// network puts a proxy in front of each server.
func (s *set) network() network {
	s.t.Helper()
	return proxies(s.t, s.servers...)
}

// proxies puts a proxy in front of each of these servers.
func proxies(t testing.TB, servers ...*redistest.Server) (n network) {
	t.Helper()
	for _, srv := range servers {
		n = append(n, redistest.NewProxy(t, srv.Addr()))
	}
	return n
}

func (n network) urls() (urls []string) {
	for _, p := range n {
		urls = append(urls, p.URL())
	}
	return urls
}

// all calls f with every proxy.
func (n network) all(f func(*redistest.Proxy)) {
	for _, p := range n {
		f(p)
	}
}

// via makes a client reach the nodes through n.
func (n network) via(t testing.TB, d driver) func(*holdfast.Config) {
	t.Helper()
	nodes, err := d.open(n.urls()...)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *holdfast.Config) { c.Nodes = nodes }
}

type driver struct {
	name string
	open func(urls ...string) ([]node.Node, error)
}

var (
	viaRueidis = driver{"rueidis", rueidisnode.Open}
	viaGoRedis = driver{"go-redis", func(urls ...string) ([]node.Node, error) {
		var clients []redis.UniversalClient
		for _, url := range urls {
			o, err := redis.ParseURL(url)
			if err != nil {
				return nil, err
			}
			clients = append(clients, redis.NewClient(o)) // the client dials nothing, so it need not be closed
		}
		return goredisnode.Open(clients...)
	}}
	drivers = []driver{viaRueidis, viaGoRedis}
)

// calm sets only long times, so that a busy machine cannot disturb the test.
func calm(c *holdfast.Config) {
	c.Window, c.MaxTTL, c.NodeTimeout = window, 5*time.Second, 2*time.Second
}
