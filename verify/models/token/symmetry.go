package token

// All owners are equal, and all nodes are equal. So two states that differ only by names mean the same. Canonical
// returns the least of such states.

// orders are the permutations of the owners, order[new] = old: of two, of three.
var orders = [...][most]uint8{{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}

// ordersOf returns the orders that do not move the places that a configuration does not use.
func ordersOf(owners int) [][most]uint8 {
	return orders[:[...]int{0, 1, 2, 6}[owners]]
}

// Canonical implements [explore.Model].
func (m Model) Canonical(s State) State {
	var keys [most]uint64
	for i := range s.Owners {
		keys[i] = s.ownerKey(i)
	}
	best, found := s, false
	var bestKeys [nodes + 1]uint64
	for _, order := range ordersOf(m.Owners) {
		if keys[order[0]] > keys[order[1]] || m.Owners == most && keys[order[1]] > keys[order[2]] {
			continue // not sorted
		}
		t := s.renamed(order)
		k := t.sorted()
		if !found || less(k, bestKeys) {
			best, bestKeys, found = t, k, true
		}
	}
	return best
}

// ownerKey returns all facts about an owner that need no name.
func (s *State) ownerKey(i int) uint64 {
	o := s.Owners[i]
	var marks, records, covers uint64
	for n := range s.Nodes {
		marks += uint64(s.Nodes[n].By[i] & (Voted | Extends))
		covers += uint64(s.Nodes[n].By[i].Covers())
		if int(s.Nodes[n].Owner) == i+1 {
			records++
		}
	}
	key := uint64(o.Phase)<<8 | uint64(o.Acquires)
	key = key<<8 | uint64(o.Releases)
	key = key<<8 | uint64(o.Above)<<4
	key |= uint64(o.Next)<<32 | uint64(o.Before)<<34 | uint64(o.Given)<<36
	if o.Held {
		key |= 1
	}
	if o.From != 0 {
		key |= 2
	}
	return ((key<<4|marks)<<4|records)<<4 | covers
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
	for n := range s.Nodes {
		t.Nodes[n] = s.Nodes[n]
		t.Nodes[n].Owner = now[s.Nodes[n].Owner]
		for i, old := range order {
			t.Nodes[n].By[i] = s.Nodes[n].By[old].renamed(order)
		}
	}
	return t
}

// renamed returns a mail whose messages have the new names of the owners.
func (m Mail) renamed(order [most]uint8) Mail {
	if m < firstGift {
		return m
	}
	is := m % firstGift
	for i, old := range order {
		if m&gift(int(old)) != 0 {
			is |= gift(i)
		}
	}
	return is
}

// key returns a node as a number.
func (n *Node) key() uint64 {
	k := uint64(n.Leased)<<28 | uint64(n.Owner)<<24 | uint64(n.Token)<<16 | uint64(n.Seen)<<8 | uint64(n.Floor)<<1
	if n.Live {
		k |= 1
	}
	if n.Away {
		k |= 8
	}
	for _, by := range n.By {
		k = k<<8 | uint64(by)
	}
	return k
}

// sorted sorts the nodes. It returns everything that contains names of owners.
func (s *State) sorted() (k [nodes + 1]uint64) {
	for i := range s.Nodes {
		k[i] = s.Nodes[i].key()
	}
	for _, pair := range [...][2]int{{0, 1}, {1, 2}, {0, 1}} {
		if a, b := pair[0], pair[1]; k[a] > k[b] {
			k[a], k[b] = k[b], k[a]
			s.Nodes[a], s.Nodes[b] = s.Nodes[b], s.Nodes[a]
		}
	}
	for _, o := range s.Owners {
		k[nodes] = k[nodes]<<8 | uint64(o.From)
	}
	return k
}

func less(a, b [nodes + 1]uint64) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
