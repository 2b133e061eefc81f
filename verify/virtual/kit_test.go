package virtual

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// window is W of most node sets.
const window = 250 * time.Millisecond

var lock = leasetest.Lock

// nodeSet returns the configuration of n nodes.
func nodeSet(n int, ttl time.Duration) nodescript.Config {
	return nodescript.Config{N: n, MaxTTL: ttl, Window: window, Cluster: "test"}
}

// voter returns modelled node i, which votes.
func voter(i int, now func() int64, set nodescript.Config) *nodemodel.Node {
	run := fmt.Sprintf("%040d", i+1)
	n := nodemodel.New(fmt.Sprint("node", i), now, nodemodel.Info{Run: run, Role: "master", ReplID: run}, set)
	n.Serve()
	return n
}

// manyNodes returns n modelled nodes that vote.
func manyNodes(n int, set nodescript.Config) (servers []*nodemodel.Node) {
	for i := range n {
		servers = append(servers, voter(i, nodemodel.Now, set))
	}
	return servers
}

// open returns a client of nodes. cfg has the settings that are not those of the set.
func open[N node.Node](t testing.TB, set nodescript.Config, cfg holdfast.Config, nodes []N) *holdfast.Client {
	t.Helper()
	cfg.MaxTTL, cfg.TTL, cfg.Window, cfg.Cluster = set.MaxTTL, set.MaxTTL, set.Window, set.Cluster
	cfg.Logger = slog.New(slog.DiscardHandler)
	for _, n := range nodes {
		cfg.Nodes = append(cfg.Nodes, n)
	}
	c, err := holdfast.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
