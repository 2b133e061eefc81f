package token

// These functions are the behaviour of an owner, as in internal/core/waiting and internal/core/renewal.

// mayDraw reports whether an owner has a round left.
func (m Model) mayDraw(o Owner) bool {
	drawn := 0
	for s := o.Acquires; s != 0; s &= s - 1 {
		drawn++
	}
	return drawn < max(m.Rounds, 1)
}

// draw begins a round: a stamp for all nodes. Grants of earlier rounds do not count.
func (m Model) draw(t *State, i int, stamp uint8) {
	o := &t.Owners[i]
	o.Phase, o.Acquires, o.Given, o.Above = Bidding, with(o.Acquires, stamp), 0, t.highestHeld()
	if m.keeps(OneStamp) {
		t.forgetVotes(i)
	}
}

// end gives up an attempt or releases a lease. Releases go to all nodes, and name the highest stamp that was sent for
// the owner.
func (m Model) end(t *State, i int, highest uint8) {
	o := &t.Owners[i]
	o.Phase, o.Above, o.Releases = Over, 0, with(o.Releases, highest)
	t.forgetVotes(i)
	if m.keeps(FailedPassFrees) {
		m.drop(t, i)
	}
}

// drop releases a lease that was passed to an owner, after the owner's round is decided in either way.
func (m Model) drop(t *State, i int) {
	if h := t.Owners[i].From; h != 0 && t.Owners[h-1].Phase == Passed {
		m.end(t, int(h-1), m.named(t.Owners[h-1]))
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

// highestDrawn returns the highest stamp that any owner drew, also for the next owner.
func (s *State) highestDrawn() (top uint8) {
	for _, o := range s.Owners {
		top = max(top, o.Asked(), o.Next)
	}
	return top
}
