package token

// These functions are the behaviour of a node as in the scripts. There are no clocks: a record expires when the
// adversary says so, and every stamp is inside the window.

// answer is the answer of a node.
type answer uint8

const (
	refused answer = iota // held, stale or lost
	yes                   // granted, extended or repaired
	again                 // granted before: nothing changed
)

// acquire does acquire.lua: it takes the name for an owner, with a stamp. from is the owner in the same process that
// passes its lease, or 0.
func (m Model) acquire(n *Node, owner, stamp, from uint8) answer {
	if n.Away {
		return refused // it does not vote
	}
	mine := n.Owner == owner
	if n.Live && mine && (n.Token == stamp || n.Token == 0 && !m.keeps(ClaimIsNoGrant)) {
		return again
	}
	passed := n.Owner == from && from != 0 || from != 0 && !m.keeps(PassNamesOwner)
	if n.Live && n.Owner != 0 && !mine && !passed {
		return refused // held
	}
	if stamp <= n.Floor || 2*stamp <= n.Seen && m.keeps(HigherTokens) {
		return refused // its window, or the token rule
	}
	if !mine {
		m.remember(n)
	}
	n.Owner, n.Token, n.Live = owner, stamp, true
	if m.keeps(GrantsAreSeen) {
		n.Seen = max(n.Seen, 2*stamp)
	}
	return yes
}

// remember notes that the grant of the record's owner may have been a lease.
func (m Model) remember(n *Node) {
	if n.Owner != 0 && m.keeps(GrantsAreLeases) {
		n.Leased = max(n.Leased, 2*n.Token)
	}
}

// extend does extend.lua: it extends the owner's lease, or stores it on a node that lacks it. It refuses if a later
// lease may have been there. (The other condition of a repair, that the owner still relies on its lease, needs time:
// see the clock model.) A claim gives way.
func (m Model) extend(n *Node, owner, token uint8) answer {
	mine := n.Owner == owner
	switch {
	case n.Away:
		return refused
	case mine && (n.Token == token || !m.keeps(ExtendNamesToken)):
		// The lease is extended. seen does not matter, because the node has granted no other owner since.
	case n.Live && n.Owner != 0 && !mine && n.Token != 0:
		return refused
	default:
		is := *n
		if m.remember(&is); is.Leased > 2*token && m.keeps(RepairTokens) {
			return refused
		}
		n.Leased = is.Leased
	}
	n.Owner, n.Token, n.Live, n.Seen = owner, token, true, max(n.Seen, 2*token)
	return yes
}

// release does release.lua: it gives back the owner's grants for stamps up to highest, and leaves a tombstone above.
// lease says that a lease is released: it ends with all earlier leases. Stamps that never won end none. behind says
// that the node's clock is so far behind that it limits the tombstone. release returns the highest stamp that cannot
// come back.
func (m Model) release(n *Node, owner, highest uint8, lease, behind bool) (covers uint8) {
	mine := n.Owner != 0 &&
		(n.Owner == owner || !m.keeps(ReleaseOwnOnly)) &&
		(n.Token <= highest || !m.keeps(ReleaseCovered))
	tomb := 2*highest + 1
	if behind {
		tomb = 0
	}
	covers = highest
	if behind {
		covers = 0
		if mine {
			covers = n.Token
		}
	}
	if mine && m.keeps(OwnTombstone) {
		tomb = max(tomb, 2*n.Token+1)
	}
	if lease && (mine || !behind) && m.keeps(LeasesEnd) {
		n.Leased = max(n.Leased, tomb)
	}
	if m.keeps(SeenNeverFalls) {
		tomb = max(tomb, n.Seen)
	}
	if !m.keeps(Tombstone) {
		tomb = n.Seen
	}
	n.Seen = tomb
	if mine {
		n.Owner, n.Token, n.Live = 0, 0, false
	}
	return covers
}

// handOff does handoff.lua: it reserves the free name for an owner. A claim is a record without a token. asker is the
// owner whose acquire handed the name on, or 0 for a release. An owner that asks again had no lease.
func (m Model) handOff(n *Node, owner, asker uint8) {
	if n.Owner != asker {
		m.remember(n)
	}
	n.Owner, n.Token, n.Live = owner, 0, true
	if !m.keeps(ClaimKeepsSeen) {
		n.Seen = 0
	}
}

// forget does a restart, a flush or an eviction, and the quarantine after it. When the node votes again, its window
// refuses stamps that were drawn before and extends that were sent before.
func (m Model) forget(n *Node, drawn uint8) {
	by := n.By
	*n = Node{By: by}
	if m.keeps(Quarantine) {
		n.Floor = drawn
		for i := range n.By {
			n.By[i] &^= Extends
		}
	}
}
