package clock

// These functions are the behaviour of a node as in the scripts. open checks the window and the guard for acquire and
// extend.

// open reports whether a node accepts an acquire with this stamp.
func (m Model) open(s *State, n int, stamp int8) bool {
	if s.Nodes[n].Away != Votes {
		return false
	}
	late := s.Clock(n) - stamp
	return abs(late) <= window || !m.keeps(Window) || late > 0 && !m.keeps(AcquireInTime)
}

// openLate reports whether a node accepts a renewal with this stamp. A renewal may be late.
func (m Model) openLate(s *State, n int, stamp int8) bool {
	if s.Nodes[n].Away != Votes {
		return false
	}
	clock := s.Clock(n)
	return (stamp <= clock+window || !m.keeps(NotAhead)) && (stamp+m.TTL > clock || !m.keeps(NotOver)) || !m.keeps(Window)
}

// excess returns by how much a renewal was later than a window allows, by the node's clock. With Aged it is the age of
// the stamp, minus W: it may be negative.
func (m Model) excess(clock, stamp int8) int8 {
	e := clock - stamp - window
	if m.Aged {
		return e
	}
	return max(e, 0)
}

// live reports whether an owner holds the name on the node or has a claim to it.
func (n *Node) live(clock int8) bool { return n.Owner != 0 && clock < n.Expiry }

// acquire does acquire.lua. It reports whether the answer is granted.
func (m Model) acquire(n *Node, clock, owner, stamp, from int8) bool {
	live := n.live(clock)
	if live && n.Owner == owner && n.Token == stamp && (m.Given == 0 || n.Expiry >= stamp+m.TTL || !m.keeps(GivenNoRepeat)) {
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
	expiry := stamp + m.TTL
	if m.Given > 0 && n.Owner == owner && n.Token != 0 && m.keeps(GivenKeepsExpiry) {
		expiry = max(expiry, n.Expiry)
	}
	n.Owner, n.Token, n.Expiry, n.Seen = owner, stamp, expiry, max(n.Seen, 2*stamp)
	return true
}

// leased returns Leased for a record that another owner gets next: the grant of the present owner may have been a
// lease.
func (n *Node) leased() int8 {
	if n.Owner != 0 {
		return max(n.Leased, 2*n.Token)
	}
	return n.Leased
}

// extend does extend.lua. It reports whether the answer is extended or repaired.
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

// turn does acquire-shared.lua for a downgrade: it turns the owner's exclusive lease into a shared one. That lease has
// another owner and token, which no request here needs. A node without the lease would grant as to any reader. That is
// an acquire and no renewal, so it is left out. turn reports whether the answer is granted.
func (m Model) turn(n *Node, owner, token, stamp int8) bool {
	if n.Owner != owner || n.Token != token {
		return false
	}
	if n.Expiry < stamp+m.TTL || !m.keeps(TurnKeepsExpiry) {
		n.Expiry = stamp + m.TTL
	}
	return true
}

// release does release.lua. It needs neither guard nor window. lease says that a lease is released: it ends together
// with all earlier leases.
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
		if m.Ghosts {
			n.Freed |= 1 << (owner - 1)
		}
	}
}

// handOff does handoff.lua. asker is the owner whose acquire hands the name on, or 0 for a release. An owner that asks
// again had no lease.
func (m Model) handOff(n *Node, clock, owner, asker int8) {
	if n.Owner != asker {
		n.Leased = n.leased()
	}
	n.Owner, n.Token, n.Expiry = owner, 0, clock+m.Claim
}

// forget does a restart, a flush or an eviction.
func (m Model) forget(t *State) {
	n := &t.Nodes[0]
	*n = Node{Off: n.Off, By: n.By, Freed: n.Freed, Excess: n.Excess, Heard: n.Heard, Away: Forgot}
	for i := range n.Heard {
		n.Heard[i].Older = n.Heard[i].Gifts
	}
	if !m.keeps(Quarantine) {
		n.Away = Votes
	}
	t.Wipes, t.Challenge, t.Written = t.Wipes+1, 0, 0
}

// confirmed reports whether the node's clock confirms the stamp of an admit.
func (m Model) confirmed(clock, stamp, within int8) bool {
	return abs(stamp-clock) <= within || !m.keeps(ConfirmedStamp)
}

// admit does admit.lua and quarantine.lua on the first node with a stamp. A node without memory writes a challenge. A
// request with the challenge begins its quarantine, and the node votes at the end. If its clock went back, the
// quarantine begins again. A voucher shortens it.
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

// voucher reports whether a valid voucher has come by now. A late voucher for an earlier loss is not valid.
func (m Model) voucher(s *State) bool {
	if !m.keeps(VoucherNames) {
		return s.Vouched != 0
	}
	return s.Vouched&(1<<s.Challenge) != 0 && s.Challenge != 0
}
