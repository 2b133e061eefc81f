package holdfast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// Sharded returns several node sets as the nodes of one client, for [Config.Nodes]. Each name belongs to one of the sets,
// chosen by a hash of its tag or name (rendezvous hashing), and is locked there as with this set alone. So n sets carry
// about n times the load of one.
//
// All clients must list the same sets in the same order. The number of sets and the place of a set belong to the
// settings that its nodes check ([Config.Cluster]). To add a set, change the node set of the clients: see "To change it
// while clients run" in docs/guide/operating.md. Another number of sets moves names, so both the old and the new sets
// must be locked meanwhile. With one set more, only the names move that the new set gets.
//
// Each set has its own quarantines. New sets begin theirs with the first request to each of them. So the first lock of a
// name of another set may wait for MaxTTL + Window again, and [Client.LockAll] for one set after the other. To begin all
// of them at the same time, call [admin.Nodes] at the start.
//
// [New] reports a set without nodes, and a node that is in two sets.
func Sharded(sets ...[]node.Node) []node.Node { return []node.Node{&several{sets: sets}} }

// several is a list of node sets in the form of one node. Clients use the nodes of the sets, and never its calls.
type several struct{ sets [][]node.Node }

// errSeveral is the error of a call to several sets as if they were one node.
var errSeveral = errors.New("several node sets are no node; give holdfast.Sharded to holdfast.Config.Nodes only")

// Addr implements [node.Node].
func (s *several) Addr() string {
	var names []string
	for _, nodes := range s.sets {
		var addrs []string
		for _, n := range nodes {
			if n != nil {
				addrs = append(addrs, n.Addr())
			}
		}
		slices.Sort(addrs) // clients may list the servers of a set in any order
		names = append(names, strings.Join(addrs, ","))
	}
	return strings.Join(names, ";")
}

// EvalSHA implements [node.Node].
func (s *several) EvalSHA(_ context.Context, calls []node.Call) []node.Reply {
	replies := make([]node.Reply, len(calls))
	for i := range replies {
		replies[i].Err = node.NotSent(errSeveral)
	}
	return replies
}

// Eval implements [node.Node].
func (s *several) Eval(context.Context, string, node.Call, ...string) node.Reply {
	return node.Reply{Err: node.NotSent(errSeveral)}
}

// Listen implements [node.Node].
func (s *several) Listen(context.Context, string, func(string)) error { return errSeveral }

// Close implements [node.Node].
func (s *several) Close() {
	for _, n := range slices.Concat(s.sets...) {
		if n != nil {
			n.Close()
		}
	}
}

// several returns the node sets of [Sharded], or nil.
func (c Config) several() *several {
	for _, n := range c.Nodes {
		if s, ok := n.(*several); ok {
			return s
		}
	}
	return nil
}

// checkSeveral checks the node sets of [Sharded]. Each must be good as the only one.
func (c Config) checkSeveral() error {
	s := c.several()
	switch {
	case s == nil:
		return nil
	case len(c.Nodes) > 1:
		return badField("Nodes", "{Nodes} has several sets by Sharded, and other nodes; give all nodes to Sharded, or none")
	case len(s.sets) == 0:
		return badField("Nodes", "{Nodes} is Sharded without a set; give at least one set of nodes")
	}
	seen := map[string]int{}
	for i, nodes := range s.sets {
		one := c
		one.Nodes = nodes
		if one.several() != nil || one.redisCluster() != nil {
			return badField("Nodes", "set %d of Sharded contains sets itself, or a Redis Cluster; it must have independent servers", i+1)
		}
		if err := one.check(); err != nil {
			return badField("Nodes", "set %d of Sharded: %w", i+1, err)
		}
		for _, n := range nodes {
			if first, twice := seen[n.Addr()]; twice {
				return badField("Nodes", "sets %d and %d of Sharded both have the server %s; a server belongs to one set", first, i+1, n.Addr())
			}
			seen[n.Addr()] = i + 1
		}
	}
	return nil
}

// setOf returns the index of the set to which a name belongs, of n sets.
func setOf(name string, n int) int {
	slot, best, most := uint64(node.SlotOf(nodescript.RecordKey(name))), 0, uint64(0)
	for i := range n {
		// The finalizer of MurmurHash3 mixes the bits. Each set has its own value for a slot, and the highest one wins. So
		// one set more takes names from the others, and moves no name between these.
		x := slot<<32 | uint64(i+1)
		x = (x ^ x>>33) * 0xff51afd7ed558ccd
		x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
		if x ^= x >> 33; i == 0 || x > most {
			best, most = i, x
		}
	}
	return best
}

// label returns the name of set i of n, for the settings that its nodes check.
func label(cluster string, i, n int) string { return fmt.Sprintf("%s:%d-of-%d", cluster, i+1, n) }
