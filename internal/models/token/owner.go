package token

// What an owner does, as the client has it: internal/waiting and internal/renewal.

// mayDraw reports whether an owner has a round left.
func (m Model) mayDraw(o Owner) bool {
	drawn := 0
	for s := o.Acquires; s != 0; s &= s - 1 {
		drawn++
	}
	return drawn < max(m.Rounds, 1)
}

// draw begins a round: a stamp, sent to all nodes. Grants of earlier ones do not count.
func (m Model) draw(t *State, i int, stamp uint8) {
	o := &t.Owners[i]
	o.Phase, o.Acquires, o.Above = Bidding, with(o.Acquires, stamp), t.highestHeld()
	if m.keeps(OneStamp) {
		t.forgetVotes(i)
	}
}

// end gives up a bid, or a lease back: releases go to all nodes, and name the highest
// stamp sent under the owner.
func (m Model) end(t *State, i int, highest uint8) {
	o := &t.Owners[i]
	o.Phase, o.Above, o.Releases = Over, 0, with(o.Releases, highest)
	t.forgetVotes(i)
	if m.keeps(FailedPassFrees) {
		m.drop(t, i)
	}
}

// drop releases what was passed to an owner, once its round is decided either way.
func (m Model) drop(t *State, i int) {
	if h := t.Owners[i].From; h != 0 && t.Owners[h-1].Phase == Passed {
		m.end(t, int(h-1), t.Owners[h-1].Stamp())
	}
}

// renewed reports whether a renewal was sent.
func (s *State) renewed(i int) bool {
	for n := range s.Nodes {
		if s.Nodes[n].By[i]&Extends != 0 {
			return true
		}
	}
	return false
}

// highestDrawn is the highest stamp that anybody drew.
func (s *State) highestDrawn() (top uint8) {
	for _, o := range s.Owners {
		top = max(top, o.Stamp())
	}
	return top
}
