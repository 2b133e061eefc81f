package driver

import (
	"fmt"

	"github.com/holdfast-go/holdfast/node"
)

// Open makes one node from each element of from, in this order. The function one makes a single node. Open returns an
// error if an element is bad, if two elements have the same address, or if there are no elements. The error begins
// with the name of the driver, and says which element is wrong. The parameter what names an element in errors, such as
// "URL". After an error no node is open.
func Open[T any, N node.Node](driver, what string, from []T, one func(T) (N, error)) ([]node.Node, error) {
	if len(from) == 0 {
		return nil, fmt.Errorf("%s: no %s was given; want one for each node", driver, what)
	}
	nodes := make([]node.Node, 0, len(from))
	fail := func(i int, err error) ([]node.Node, error) {
		for _, n := range nodes {
			n.Close()
		}
		return nil, fmt.Errorf("%s: %s %d of %d: %w", driver, what, i+1, len(from), err)
	}
	seen := map[string]int{}
	for i, f := range from {
		n, err := one(f)
		if err != nil {
			return fail(i, err)
		}
		nodes = append(nodes, n)
		if first, twice := seen[n.Addr()]; twice {
			return fail(i, fmt.Errorf("node %s: is listed before, as number %d; each node has one vote", n.Addr(), first+1))
		}
		seen[n.Addr()] = i
	}
	return nodes, nil
}
