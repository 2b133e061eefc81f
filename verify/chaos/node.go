//go:build linux

package chaos

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// sides is the number of parts of the network. Each part has its own proxies to every node. So a fault can cut a node
// off from some clients and not from others.
const sides = 2

// node is one place of the node set. Its server changes when a replica replaces the server.
type node struct {
	t       testing.TB
	server  *redistest.Server
	proxies [sides]*redistest.Proxy
	skew    time.Duration // the difference between the node's right clock and real time
	busy    busy          // the parts of the node that faults use
}

// busy says which parts of a node are used by a fault. Two faults of one part would undo each other.
type busy struct {
	process, clock bool
	network        [sides]bool
}

var serverArgs = []string{"--appendonly", "yes", "--appendfsync", "everysec", "--repl-diskless-sync-delay", "0", "--maxmemory-policy", "noeviction"}

func startServer(t testing.TB) *redistest.Server {
	return redistest.Start(t, redistest.WithClock(), redistest.Args(serverArgs...))
}

// newNodes starts n nodes. Their right clocks differ by up to 90 % of the window.
func newNodes(t testing.TB, rng *rand.Rand, n int, window time.Duration) []*node {
	t.Helper()
	var nodes []*node
	for range n {
		s := &node{t: t, server: startServer(t)}
		if n > 1 {
			s.skew = time.Duration((rng.Float64() - 0.5) * 0.9 * float64(window))
		}
		s.server.Step(s.skew)
		for i := range sides {
			s.proxies[i] = redistest.NewProxy(t, s.server.Addr())
		}
		nodes = append(nodes, s)
	}
	return nodes
}

// replace puts another server in the node's place, under its addresses.
func (n *node) replace(s *redistest.Server) {
	n.server = s
	for _, p := range n.proxies {
		p.Redirect(s.Addr())
	}
}

func urls(nodes []*node, side int) (list []string) {
	for _, n := range nodes {
		list = append(list, n.proxies[side].URL())
	}
	return list
}
