package clock

// The model's adversary chooses all events. It may do the same things to several nodes, and then only their names
// differ. So these nodes are treated as equal.

// Canonical implements [explore.Model]. It sorts the nodes.
func (m Model) Canonical(s State) State {
	first := 0
	if m.Minority {
		first = 1
	}
	var k [nodes]nodeKey
	for n := range s.Nodes {
		k[n] = s.Nodes[n].key()
	}
	for _, pair := range [...][2]int{{0, 1}, {1, 2}, {0, 1}} {
		if a, b := pair[0], pair[1]; a >= first && k[b].less(&k[a]) {
			k[a], k[b] = k[b], k[a]
			s.Nodes[a], s.Nodes[b] = s.Nodes[b], s.Nodes[a]
		}
	}
	return s
}

// nodeKey is a node as numbers. Different nodes have different numbers.
type nodeKey [2 + most]uint64

func (k *nodeKey) less(o *nodeKey) bool {
	for i := range k {
		if k[i] != o[i] {
			return k[i] < o[i]
		}
	}
	return false
}

func (n *Node) key() (k nodeKey) {
	for _, x := range [...]int8{n.Off, n.Owner, n.Token, n.Expiry, n.Seen, n.Leased, n.Away} {
		k[0] = k[0]<<7 | uint64(x&0x7f) // instants are below 60, and values that may be negative are small
	}
	for i, by := range n.By {
		k[0] = k[0]<<4 | uint64(by) // at most 1 + 2 + 4
		for _, e := range n.Excess[i] {
			k[1] = k[1]<<7 | uint64(e&0x7f)
		}
		k[1] = k[1]<<1 | uint64(n.Freed>>i&1)
		h := n.Heard[i]
		k[2+i] = uint64(h.Ping)<<40 | uint64(h.Older)<<32 | uint64(h.At)<<24 | uint64(h.Seen)<<16 | uint64(h.Gifts)<<8 | uint64(h.Since)
	}
	return k
}
