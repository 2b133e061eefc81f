package promholdfast

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/metrics/internal/gauges"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// open opens a client on servers, which vote for it.
func open(t *testing.T, c *gauges.Clients, servers ...*redistest.Server) *holdfast.Client {
	t.Helper()
	client := openWith(t, c, 2*time.Second, servers...)
	admin.Trust(t.Context(), client)
	leasetest.AllVote(t, client, 15*time.Second)
	return client
}

// openWith opens a client with this MaxTTL.
func openWith(t *testing.T, c *gauges.Clients, maxTTL time.Duration, servers ...*redistest.Server) *holdfast.Client {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.URL())
	}
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		t.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{
		Nodes: nodes, MaxTTL: maxTTL, Window: 200 * time.Millisecond, Cluster: "test",
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Observers: []holdfast.Observer{{Observe: c.Observe}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func clients(t *testing.T, passive bool) *gauges.Clients {
	t.Helper()
	g, err := gauges.NewGroups(nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &gauges.Clients{Groups: g, Passive: passive}
}

func TestAReadingHasWaitersHoldersAndNodes(t *testing.T) {
	c := clients(t, false)
	servers := redistest.StartN(t, 3)
	client, other := open(t, c, servers...), open(t, c, servers...)
	l := leasetest.Lock(t, client, "x")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _, _ = other.Mutex("x").Lock(ctx) }()
	redistest.Eventually(t, 10*time.Second, "a waiter", func() bool { return c.Read(t.Context()).Waiters[gauges.All] == 1 })
	r := c.Read(t.Context())
	if r.Holders[gauges.All] != 1 || len(r.Nodes) != 3 || r.Windows["test"] != 200*time.Millisecond {
		t.Errorf("a holder, a waiter and three nodes: %+v", r)
	}
	for _, n := range r.Nodes {
		if !n.Known || !n.Up || !n.Votes || !n.OffsetKnown || n.RoundTrip <= 0 || n.Cluster != "test" {
			t.Errorf("a node that votes: %+v", n)
		}
	}
	cancel()
	<-done
	if err := l.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := c.Read(t.Context()); r.Waiters[gauges.All] != 0 || r.Holders[gauges.All] != 0 {
		t.Errorf("nobody waits or holds: %+v", r)
	}
	client.Close()
	other.Close()
	if r := c.Read(t.Context()); len(r.Nodes) != 0 {
		t.Errorf("after Close: %+v", r)
	}
}

// A node refuses a client with other settings. The node is sound, so the clients with the settings of the node show nothing.
func TestANodeRefusesOtherSettings(t *testing.T) {
	right, wrong := clients(t, false), clients(t, false)
	servers := redistest.StartN(t, 3)
	open(t, right, servers...)
	openWith(t, wrong, 3*time.Second, servers...)
	misfits := func(c *gauges.Clients) (n int) {
		for _, one := range c.Read(t.Context()).Nodes {
			if one.Misfit && !one.Votes {
				n++
			}
		}
		return n
	}
	redistest.Eventually(t, 30*time.Second, "three nodes that refuse the settings", func() bool { return misfits(wrong) == 3 })
	if n := misfits(right); n != 0 {
		t.Errorf("%d of 3 nodes refuse the right settings", n)
	}
}

// An idle client notices the death of a node only if somebody asks.
func TestAReadingAsksTheNodesOfAnIdleClient(t *testing.T) {
	asks, passive := clients(t, false), clients(t, true)
	servers := redistest.StartN(t, 3)
	open(t, asks, servers...)
	open(t, passive, servers...)
	servers[2].Kill()
	down := func(c *gauges.Clients) (n int) {
		for _, n1 := range c.Read(t.Context()).Nodes {
			if !n1.Up && !n1.Votes {
				n++
			}
		}
		return n
	}
	if n := down(asks); n != 1 {
		t.Errorf("%d of 3 nodes are down, want 1", n)
	}
	if n := down(passive); n != 0 {
		t.Errorf("a passive reading asked the nodes: %d are down", n)
	}
}

// A reading of a client of a Redis Cluster has each shard with its present master, also if the client never used it. If
// no server answers, it has the cluster as one node that is down.
func TestAReadingHasTheShardsOfACluster(t *testing.T) {
	cluster := redistest.StartCluster(t, 3, 0)
	url := "redis+cluster://" + strings.Join(slices.Sorted(slices.Values(cluster.Addrs())), ",") // as the driver sorts them
	read := func() []gauges.Node {
		t.Helper()
		c := clients(t, false)
		nodes, err := rueidisnode.Open(url)
		if err != nil {
			t.Fatal(err)
		}
		client, err := holdfast.New(holdfast.Config{
			Nodes: nodes, NodeTimeout: 5 * time.Second, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Observers: []holdfast.Observer{{Observe: c.Observe}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		var all []gauges.Node
		redistest.Eventually(t, time.Minute, "a reading of the client", func() bool { // an observer begins after New
			all = c.Read(t.Context()).Nodes
			return len(all) > 0
		})
		return all
	}
	all := read()
	for _, n := range all {
		if n.Cluster != "redis-cluster" || !slices.Contains(cluster.Addrs(), n.Master) || !n.Known {
			t.Errorf("a shard: %+v", n)
		}
	}
	if len(all) != 3 {
		t.Errorf("shards: %+v", all)
	}
	for _, s := range cluster.Servers() {
		s.Kill()
	}
	if all := read(); len(all) != 1 || all[0].Addr != url || all[0].Up || all[0].Master != "" {
		t.Errorf("a cluster that is down: %+v", all)
	}
}
