package shared

// These functions are the scripts for writers, beside readers. There are no clocks: a grant expires when the adversary
// says so, and every stamp is inside the window.

// answer is the answer of a node.
type answer uint8

const (
	refused answer = iota // held, stale or lost
	yes                   // granted, extended or repaired
	again                 // granted before: nothing changed
)

// acquire does acquire.lua: it takes the name for a writer. from is the owner in the same process that passes its
// lease, or 0.
func (m Model) acquire(n *Node, owner, stamp, from uint8) answer {
	mine := n.Owner == owner
	if n.Live && mine && n.Token == stamp {
		return again
	}
	if n.Live && n.Owner != 0 && !mine && (n.Owner != from || from == 0) {
		return refused // held by a writer
	}
	if n.read(true) >= 0 && m.keeps(WritersSeeReaders) {
		return refused // held by readers
	}
	if stamp <= n.Floor || 2*stamp <= n.Seen || 2*stamp <= n.RSeen && m.keeps(AboveReaders) {
		return refused // its window, or the token rule
	}
	if !mine {
		n.displaceWriter()
	}
	m.displaceReaders(n)
	n.Owner, n.Token, n.Live, n.Seen = owner, stamp, true, max(n.Seen, 2*stamp)
	return yes
}

// displaceWriter removes the record's owner. Its grant may have been a lease.
func (n *Node) displaceWriter() {
	if n.Owner != 0 {
		n.Leased = max(n.Leased, 2*n.Token)
	}
	n.Owner, n.Token, n.Live = 0, 0, false
}

// displaceReaders removes all entries of readers. Their grants may have been leases.
func (m Model) displaceReaders(n *Node) {
	for _, e := range n.Entries {
		if e.Grant() && m.keeps(DeadReadersLeased) {
			n.RLeased = max(n.RLeased, 2*e.Token())
		}
	}
	if m.keeps(DeadReadersGo) {
		n.Entries, n.Lives = [most]Entry{}, 0
	}
}

// extend does extend.lua: it extends a writer's lease, or stores it on a node that lacks it. Claims give way.
func (m Model) extend(n *Node, owner, token, stamp uint8) answer {
	switch {
	case stamp <= n.Floor:
		return refused
	case n.Owner == owner && n.Token == token:
		n.Live = true
		return yes
	case n.held() && n.Owner != owner:
		return refused
	case n.read(false) >= 0 && m.keeps(RepairSeesReaders):
		return refused
	}
	is := *n
	is.displaceWriter()
	m.displaceReaders(&is)
	if is.Leased > 2*token || is.RLeased > 2*token && m.keeps(RepairRLeased) {
		return refused
	}
	*n = is
	n.Owner, n.Token, n.Live, n.Seen = owner, token, true, max(n.Seen, 2*token)
	return yes
}

// release does release.lua: it gives back a writer's grants for stamps up to highest, and leaves a tombstone above.
// lease says that a lease is released: it ends with all earlier leases. behind says that the node's clock is so far
// behind that it limits the tombstone. release returns the highest stamp that cannot come back.
func (m Model) release(n *Node, owner, highest uint8, lease, behind bool) (covers uint8) {
	mine := n.Owner == owner && n.Token <= highest
	tomb, covers := tombstone(highest, n.Token, mine, behind)
	if lease && (mine || !behind) {
		n.Leased = max(n.Leased, tomb)
	}
	n.Seen = max(n.Seen, tomb)
	if mine {
		if n.Token != 0 && (lease || !m.keeps(ForgetByLease)) {
			n.RSeen, n.RLeased = 0, 0 // seen and leased are above them now
		}
		n.Owner, n.Token, n.Live = 0, 0, false
	}
	return covers
}

// tombstone returns the mark that a release leaves, and the highest stamp that it covers. token is the node's own
// grant, if it is released.
func tombstone(highest, token uint8, mine, behind bool) (tomb, covers uint8) {
	if !behind {
		tomb, covers = 2*highest+1, highest
	}
	if mine {
		tomb, covers = max(tomb, 2*token+1), max(covers, token)
	}
	return tomb, covers
}

// handOff does handoff.lua for a writer: it reserves the free name. asker is the owner whose acquire handed it on, or 0
// for a release. An owner that asks again had no lease.
func (n *Node) handOff(owner, asker uint8) {
	if n.Owner == asker {
		n.Owner = 0
	}
	n.displaceWriter()
	n.Owner, n.Token, n.Live = owner, 0, true
}
