package shared

// These functions are the scripts for readers.

// acquireShared does acquire-shared.lua: it adds a reader. from is the writer in the same process that passes its
// lease, or 0. With sweep it also removes dead entries of other readers.
func (m Model) acquireShared(n *Node, owner, stamp, from uint8, sweep bool) answer {
	i := owner - 1
	if e := n.Entries[i]; n.alive(int(i)) && (e.Token() == stamp || !e.Grant() && !m.keeps(ClaimIsNoGrant)) {
		return again
	}
	passed := from != 0 && (n.Owner == from || !m.keeps(PassNamesOwner))
	if n.Live && n.Owner != 0 && !passed && m.keeps(ReadersSeeWriters) {
		return refused // held by a writer
	}
	if stamp <= n.Floor || 2*stamp <= n.Seen && m.keeps(AboveWriters) {
		return refused
	}
	if n.Entries[i] != 0 && n.Entries[i].Token() >= stamp && m.keeps(AboveOwn) {
		return refused // a late acquire of an earlier round
	}
	if ended := 2*n.Token + 1; passed && n.Token > 0 { // a pass ends the writer's lease, as a release does
		defer func() { n.Leased = max(n.Leased, ended) }()
	}
	m.displaceWriter(n)
	if sweep {
		for j, e := range n.Entries {
			if j != int(i) && e != 0 && !n.alive(j) {
				n.drop(j)
			}
		}
	}
	n.enter(i, stamp)
	if m.keeps(GrantsAreRead) {
		n.RSeen = max(n.RSeen, 2*stamp)
	}
	return yes
}

// displaceWriter removes an expired writer before a reader's grant. The writer's grant may have been a lease.
func (m Model) displaceWriter(n *Node) {
	is := *n
	is.displaceWriter()
	if m.keeps(DeadWriterLeased) {
		n.Leased = is.Leased
	}
	if m.keeps(DeadWriterGoes) {
		n.Owner, n.Token, n.Live = 0, 0, false
	}
}

// enter writes the entry of a reader.
func (n *Node) enter(i, token uint8) { n.Entries[i], n.Lives = Entry(token+1), n.Lives|1<<i }

// drop removes the entry of a reader. Its grant may have been a lease.
func (n *Node) drop(i int) {
	if n.Entries[i].Grant() {
		n.RLeased = max(n.RLeased, 2*n.Entries[i].Token())
	}
	n.Entries[i], n.Lives = 0, n.Lives&^(1<<i)
}

// extendShared does extend-shared.lua: it extends a reader's lease, or stores it on a node that lacks it. Claims give
// way.
func (m Model) extendShared(n *Node, owner, token, stamp uint8) answer {
	i := owner - 1
	e := n.Entries[i]
	here := e.Token() == token || e != 0 && !m.keeps(ExtendNamesToken)
	switch {
	case stamp <= n.Floor:
		return refused
	case here && !n.held():
		m.displaceWriter(n) // a claim
		n.enter(i, token)
		return yes
	case n.held() && m.keeps(RepairSeesWriters):
		return refused
	case 2*stamp <= n.Seen && m.keeps(RepairFresh):
		return refused
	}
	is := *n
	m.displaceWriter(&is)
	if is.Leased > 2*token && m.keeps(RepairLeased) {
		return refused
	}
	*n = is
	n.enter(i, token)
	n.RSeen = max(n.RSeen, 2*token)
	return yes
}

// releaseShared does release-shared.lua. Its arguments are those of release.
func (m Model) releaseShared(n *Node, owner, highest uint8, lease, behind bool) (covers uint8) {
	i := owner - 1
	e := n.Entries[i]
	mine := e != 0 && (e.Token() <= highest || !m.keeps(ReleaseCovered))
	tomb, covers := tombstone(highest, e.Token(), mine && m.keeps(OwnTombstone), behind)
	if mine {
		covers = max(covers, e.Token())
	}
	if mine && lease && m.keeps(ReadersEnd) {
		n.RLeased = max(n.RLeased, 2*e.Token())
	}
	if m.keeps(Tombstone) {
		n.Seen = max(n.Seen, tomb)
	}
	if mine {
		n.Entries[i], n.Lives = 0, n.Lives&^(1<<i)
	}
	if !m.keeps(ReleaseOwnOnly) {
		for j := range n.Entries {
			n.drop(j)
		}
	}
	return covers
}

// handOffShared does handoff.lua for a reader: a claim. asker is as for handOff. beside says that readers have the
// name: the record then stays as it is.
func (n *Node) handOffShared(owner, asker uint8, beside bool) {
	if n.Owner == asker {
		n.Owner = 0
	}
	if !beside {
		n.displaceWriter()
	}
	n.drop(int(owner - 1))
	n.enter(owner-1, 0)
}
