package clock

// The model's adversary chooses all events. It may do the same things to several nodes, and then only their names
// differ. So these nodes are treated as equal.

// Canonical implements [explore.Model]. It sorts the nodes.
func (m Model) Canonical(s State) State {
	first := 0
	if m.Minority {
		first = 1
	}
	var k [nodes]uint64
	for n := range s.Nodes {
		k[n] = s.Nodes[n].key()
	}
	for _, pair := range [...][2]int{{0, 1}, {1, 2}, {0, 1}} {
		if a, b := pair[0], pair[1]; a >= first && k[a] > k[b] {
			k[a], k[b] = k[b], k[a]
			s.Nodes[a], s.Nodes[b] = s.Nodes[b], s.Nodes[a]
		}
	}
	return s
}

// key returns a node as a number. Different nodes have different numbers.
func (n *Node) key() (k uint64) {
	for _, x := range [...]int8{n.Off, n.Owner, n.Token, n.Expiry, n.Seen, n.Leased, n.Away} {
		k = k<<7 | uint64(x&0x7f) // instants are below 60, and values that may be negative are small
	}
	for _, by := range n.By {
		k = k<<4 | uint64(by) // at most 1 + 2 + 4
	}
	return k
}
