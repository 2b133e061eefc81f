package clock

// What one node does with a message, as the scripts have it. The door of acquire and
// extend, the window and the guard, is in open.

// open reports whether a node lets an acquire or extend with a stamp in.
func (m Model) open(s *State, n int, stamp int8) bool {
	if s.Nodes[n].Away != Votes {
		return false
	}
	return abs(stamp-s.Clock(n)) <= window || !m.keeps(Window)
}

// live: somebody holds the name on the node, or has a claim to it.
func (n *Node) live(clock int8) bool { return n.Owner != 0 && clock < n.Expiry }

// acquire is acquire.lua; it reports whether the answer is granted.
func (m Model) acquire(n *Node, clock, owner, stamp, from int8) bool {
	live := n.live(clock)
	if live && n.Owner == owner && n.Token == stamp {
		return true
	}
	passed := from != 0 && (n.Owner == from || !m.keeps(PassNamesOwner))
	if live && n.Owner != owner && !passed {
		return false
	}
	if 2*stamp <= n.Seen && m.keeps(HigherTokens) {
		return false
	}
	if n.Owner != owner {
		n.Leased = n.leased()
	}
	n.Owner, n.Token, n.Expiry, n.Seen = owner, stamp, stamp+m.TTL, max(n.Seen, 2*stamp)
	return true
}

// leased is Leased if the record is another's next: what its owner had may have been a lease.
func (n *Node) leased() int8 {
	if n.Owner != 0 {
		return max(n.Leased, 2*n.Token)
	}
	return n.Leased
}

// extend is extend.lua; it reports whether the answer is extended or repaired.
func (m Model) extend(n *Node, clock, owner, token, stamp, last int8) bool {
	expiry := stamp + m.TTL
	switch {
	case n.Owner == owner && n.Token == token:
		if m.keeps(ExpiryNeverFalls) {
			expiry = max(expiry, n.Expiry)
		}
	case n.live(clock) && n.Owner != owner && n.Token != 0:
		return false
	case n.leased() > 2*token && m.keeps(RepairTokens), clock > last && m.keeps(RepairBelieved):
		return false
	default:
		n.Leased = n.leased()
	}
	n.Owner, n.Token, n.Expiry, n.Seen = owner, token, expiry, max(n.Seen, 2*token)
	return true
}

// release is release.lua. It passes every door. lease says that it was one: it ends, and so do
// those before it.
func (m Model) release(n *Node, clock, owner, highest int8, lease bool) {
	mine := n.Owner != 0 &&
		(n.Owner == owner || !m.keeps(ReleaseOwnOnly)) &&
		(n.Token <= highest || !m.keeps(ReleaseCovered))
	tomb, capped := 2*highest+1, highest > clock+2*window
	if capped {
		tomb = 2 * (clock + window)
	}
	if mine {
		tomb = max(tomb, 2*n.Token+1)
		n.Owner, n.Token, n.Expiry = 0, 0, 0
	}
	n.Seen = max(n.Seen, tomb)
	if lease && (mine || !capped) {
		n.Leased = max(n.Leased, tomb)
	}
}

// handOff is handoff.lua. asker is whose acquire hands the name on: who asks again had no lease; 0 is a release.
func (m Model) handOff(n *Node, clock, owner, asker int8) {
	if n.Owner != asker {
		n.Leased = n.leased()
	}
	n.Owner, n.Token, n.Expiry = owner, 0, clock+m.Claim
}

// forget is a restart, a flush or an eviction.
func (m Model) forget(t *State) {
	n := &t.Nodes[0]
	*n = Node{Off: n.Off, By: n.By, Away: Forgot}
	if !m.keeps(Quarantine) {
		n.Away = Votes
	}
	t.Wipes, t.Challenge, t.Written = t.Wipes+1, 0, 0
}

// confirmed reports whether the node's clock takes a stamp of admit for right.
func (m Model) confirmed(clock, stamp, within int8) bool {
	return abs(stamp-clock) <= within || !m.keeps(ConfirmedStamp)
}

// admit is admit.lua, asked of the first node with a stamp: a node without memory writes a challenge. Asked with it, the
// node begins its quarantine, and votes when it is over; one whose clock went back begins anew. A voucher shortens it.
func (m Model) admit(t *State, clock, stamp, within int8, answers, vouched bool) {
	n := &t.Nodes[0]
	if n.Away == Votes || !m.confirmed(clock, stamp, within) {
		return
	}
	if n.Away == Forgot {
		n.Away, t.Challenge, t.Written = Asks, t.Wipes, t.Now
		if m.keeps(Challenged) {
			return
		}
	}
	left := n.Away - clock
	begins := n.Away == Asks || left > m.quarantine()
	switch {
	case !answers && m.keeps(Challenged):
	case left <= 0 && !begins:
		n.Away, t.Challenge, t.Written = Votes, 0, 0
	case vouched && (begins || left > m.trusted()):
		n.Away = clock + m.trusted()
	case begins:
		n.Away = clock + m.quarantine()
	}
}

// voucher reports whether one has come, at the latest now, that counts: a late one of an earlier loss does not.
func (m Model) voucher(s *State) bool {
	if !m.keeps(VoucherNames) {
		return s.Vouched != 0
	}
	return s.Vouched&(1<<s.Challenge) != 0 && s.Challenge != 0
}
