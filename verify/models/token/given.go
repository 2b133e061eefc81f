package token

import "github.com/holdfast-go/holdfast/verify/models/explore"

// These functions are about given leases. The releases of a lease carry one stamp, which the owner draws for the next
// owner. A node that ends the lease grants this stamp to a waiter at once, and sends it a message. The waiter counts the
// node as if it had asked with this stamp.

// named returns the stamp up to which an owner releases: the highest of its own stamps and of those given to it.
func (m Model) named(o Owner) uint8 {
	switch m.Without {
	case GivenNamed:
		return o.Asked()
	case GivenAskedNamed:
		return o.Stamp()
	}
	return o.Highest()
}

// offerSteps are the releases of a lease up to stamp x with a stamp for the next owner.
func (m Model) offerSteps(s State, i int, x uint8, visit func(explore.Step, State)) {
	first := s.Owners[i].Highest() + 1
	if !m.keeps(GivenAboveOwn) {
		first = 1
	}
	for next := first; int(next) <= m.Stamps; next++ {
		t := s
		t.Owners[i].Next, t.Owners[i].Before = next, s.highestHeld()
		m.end(&t, i, x)
		visit(explore.Step{Rule: offers, Who: int8(i), X: int8(x), Y: int8(next)}, t)
	}
}

// givenSteps are the steps in which a node executes the release of an owner and gives its lease to another, and those
// in which the owner hears that the node gave it a lease.
func (m Model) givenSteps(s State, i, n int, visit func(explore.Step, State)) {
	o := s.Owners[i]
	for x := o.Stamp(); o.Next != 0 && x != 0 && int(x) <= m.Stamps; x++ {
		if !has(o.Releases, x) {
			continue
		}
		for j := range m.Owners {
			t := s
			if j != i && s.Owners[j].Acquires != 0 && m.grant(&t, i, j, n, x) {
				visit(explore.Step{Rule: grants, Who: int8(i), Node: int8(n), X: int8(x), Y: int8(j)}, t)
			}
		}
	}
	for j := range m.Owners {
		t := s
		if s.Nodes[n].By[i]&gift(j) == 0 {
			continue
		}
		if m.hear(&t, i, j, n) {
			visit(explore.Step{Rule: hears, Who: int8(i), Node: int8(n), X: int8(j)}, t)
		}
	}
}

// grant does release.lua with a stamp for the next owner: it ends the lease of owner i on a node, and grants the stamp
// to owner j. It reports false if the node only releases. A node whose clock is far behind gives nothing, because the
// stamp is outside its window.
func (m Model) grant(t *State, i, j, n int, x uint8) bool {
	node, stamp := &t.Nodes[n], t.Owners[i].Next
	mine := int(node.Owner) == i+1 && node.Token <= x
	node.By[i] = node.By[i].covering(m.release(node, uint8(i+1), x, true, false))
	switch {
	case !mine && m.keeps(GivenMine),
		node.Away && m.keeps(GivenVotes),
		!node.Away && stamp <= node.Floor && m.keeps(GivenInWindow),
		2*stamp <= node.Seen && m.keeps(GivenHigher):
		return false
	}
	m.remember(node)
	node.Owner, node.Token, node.Live = uint8(j+1), stamp, true
	if m.keeps(GivenIsSeen) {
		node.Seen = max(node.Seen, 2*stamp)
	}
	node.By[j] |= gift(i)
	return true
}

// hear does what owner i does when it hears that a node gave it the lease of owner j. The message may come at any time
// and again. A bid counts the node for the round of that stamp, whatever it asked. It does not return to a round that it
// gave back, or to one that was given to it before the present one. A finished attempt releases the lease. hear reports
// whether the message matters.
func (m Model) hear(t *State, i, j, n int) bool {
	o, from := &t.Owners[i], t.Owners[j]
	if from.Next <= o.Returned() {
		return false
	}
	switch o.Phase {
	case Over:
		if m.keeps(GivenDeclined) {
			o.Releases = with(o.Releases, from.Next)
		}
	case Bidding:
		if from.Next < o.Given {
			return false
		}
		if o.Stamp() != from.Next {
			o.Given, o.Above = from.Next, from.Before
			if m.keeps(GivenOneRound) {
				t.forgetVotes(i)
			}
		}
		t.Nodes[n].By[i] |= Voted
	default:
		return false // at the end of its lease it looks again
	}
	return true
}

// told reports whether the owner of a node's record does not know of the given lease yet, and will release it when it
// hears of it.
func (s *State) told(n int) bool {
	node := &s.Nodes[n]
	if s.Owners[node.Owner-1].Given == node.Token {
		return false // it knows
	}
	for j, o := range s.Owners {
		if node.By[node.Owner-1]&gift(j) != 0 && o.Next == node.Token {
			return true
		}
	}
	return false
}

// restoreSteps are the losses of memory after which a node has an older record: that of any lease.
func (m Model) restoreSteps(s State, n int, visit func(explore.Step, State)) {
	for i, o := range s.Owners {
		if !o.Held {
			continue
		}
		t := s
		t.Wipes++
		node := &t.Nodes[n]
		m.forget(node, s.highestDrawn())
		node.Owner, node.Token, node.Seen, node.Live, node.Away = uint8(i+1), o.Stamp(), 2*o.Stamp(), true, true
		visit(explore.Step{Rule: restores, Node: int8(n), X: int8(i)}, t)
	}
}
