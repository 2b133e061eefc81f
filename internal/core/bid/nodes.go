package bid

// Nodes is a set of nodes, by index. A node set has at most 64 nodes.
type Nodes uint64

// Every contains all nodes.
const Every = ^Nodes(0)

// One returns the set that contains only node i.
func One(i int) Nodes { return 1 << i }

// Has reports whether n contains node i.
func (n Nodes) Has(i int) bool { return n&(1<<i) != 0 }

// With returns n and node i.
func (n Nodes) With(i int) Nodes { return n | 1<<i }

// Without returns n without node i.
func (n Nodes) Without(i int) Nodes { return n &^ (1 << i) }
