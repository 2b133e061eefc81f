package waiting

// nodes is a set of nodes, by index. A node set has at most 64 nodes.
type nodes uint64

const everyNode = ^nodes(0)

func (n nodes) has(i int) bool      { return n&(1<<i) != 0 }
func (n nodes) with(i int) nodes    { return n | 1<<i }
func (n nodes) without(i int) nodes { return n &^ (1 << i) }
