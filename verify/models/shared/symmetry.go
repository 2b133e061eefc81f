package shared

// All nodes are equal, all writers are equal, and all readers are equal. So two states that differ only by names mean
// the same. Canonical returns the least of such states.

// Canonical implements [explore.Model].
func (m Model) Canonical(s State) State {
	best := s
	bestKey := best.sorted()
	for _, order := range m.orders()[1:] {
		t := s.renamed(order)
		if k := t.sorted(); k.less(bestKey) {
			best, bestKey = t, k
		}
	}
	return best
}

// orders returns the permutations of the owners that keep their modes, order[new] = old. The first one changes nothing.
func (m Model) orders() [][most]uint8 {
	same := [most]uint8{0, 1, 2}
	switch {
	case m.Writers == 2 || m.Writers == 0 && m.Readers == 2:
		return [][most]uint8{same, {1, 0, 2}}
	case m.Writers == 1 && m.Readers == 2:
		return [][most]uint8{same, {0, 2, 1}}
	case m.owners() == most && m.Writers%most == 0:
		return [][most]uint8{same, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	}
	return [][most]uint8{same}
}

// renamed returns the state with other names for the owners.
func (s *State) renamed(order [most]uint8) (t State) {
	t.Wipes = s.Wipes
	var now [most + 1]uint8 // the new name by the old one, from 1
	for i, old := range order {
		now[old+1] = uint8(i + 1)
	}
	for i, old := range order {
		t.Owners[i] = s.Owners[old]
		t.Owners[i].From = now[t.Owners[i].From]
	}
	for n, was := range s.Nodes {
		is := &t.Nodes[n]
		*is = was
		is.Owner, is.Lives = now[was.Owner], 0
		for i, old := range order {
			is.By[i], is.Entries[i] = was.By[old], was.Entries[old]
			is.Lives |= was.Lives >> old & 1 << i
		}
	}
	return t
}

// nodeKey is a node as numbers.
type nodeKey [2]uint64

func (n *Node) key() (k nodeKey) {
	k[0] = uint64(n.Owner)<<56 | uint64(n.Token)<<48 | uint64(n.Seen)<<40 | uint64(n.Leased)<<32 |
		uint64(n.RSeen)<<24 | uint64(n.RLeased)<<16 | uint64(n.Floor)<<8 | uint64(n.Lives)<<1
	if n.Live {
		k[0] |= 1
	}
	for i := range most {
		k[1] = k[1]<<16 | uint64(n.Entries[i])<<8 | uint64(n.By[i])
	}
	return k
}

// stateKey orders the states that differ only by names.
type stateKey struct {
	nodes  [nodes]nodeKey
	owners [most]uint64
}

// sorted sorts the nodes, and returns the key of the state.
func (s *State) sorted() (k stateKey) {
	for i := range s.Nodes {
		k.nodes[i] = s.Nodes[i].key()
	}
	for _, pair := range [...][2]int{{0, 1}, {1, 2}, {0, 1}} {
		if a, b := pair[0], pair[1]; lessKey(k.nodes[b][:], k.nodes[a][:]) {
			k.nodes[a], k.nodes[b] = k.nodes[b], k.nodes[a]
			s.Nodes[a], s.Nodes[b] = s.Nodes[b], s.Nodes[a]
		}
	}
	for i, o := range s.Owners {
		k.owners[i] = uint64(o.Phase)<<40 | uint64(o.Acquires)<<32 | uint64(o.Extends)<<24 | uint64(o.Releases)<<16 |
			uint64(o.Above)<<8 | uint64(o.From)<<1
		if o.Held {
			k.owners[i] |= 1
		}
	}
	return k
}

func (k stateKey) less(o stateKey) bool {
	if k.owners != o.owners {
		return lessKey(k.owners[:], o.owners[:])
	}
	for i := range k.nodes {
		if k.nodes[i] != o.nodes[i] {
			return lessKey(k.nodes[i][:], o.nodes[i][:])
		}
	}
	return false
}

func lessKey(a, b []uint64) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
