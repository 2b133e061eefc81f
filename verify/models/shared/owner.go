package shared

import "github.com/holdfast-go/holdfast/verify/models/explore"

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
	o.Phase, o.Acquires, o.Above = Bidding, with(o.Acquires, stamp), m.highestHeld(t, m.reader(i))
	t.forget(i, Voted)
}

// end gives up an attempt or releases a lease. Releases go to all nodes, and name the highest stamp that was sent for
// the owner.
func (m Model) end(t *State, i int) {
	o := &t.Owners[i]
	o.Phase, o.Above, o.Releases = Over, 0, with(o.Releases, o.Highest())
	t.forget(i, Voted|Backs)
	m.drop(t, i)
}

// drop releases a lease that was passed to an owner, after the owner's round is decided in either way.
func (m Model) drop(t *State, i int) {
	if h := t.Owners[i].From; h != 0 && t.Owners[h-1].Phase == Passed {
		m.end(t, int(h-1))
	}
}

// relies notes that the owner now relies on the nodes that granted its last request, and on no others.
func (m Model) relies(t *State, i int) {
	for n := range t.Nodes {
		by := &t.Nodes[n].By[i]
		if *by &^= Backs; m.Timely && *by&Voted != 0 {
			*by |= Backs
		}
		*by &^= Voted
	}
}

// ownerSteps are the steps of an owner by itself.
func (m Model) ownerSteps(s State, i int, visit func(explore.Step, State)) {
	step := func(r explore.Rule, x uint8, do func(t *State, o *Owner)) {
		t := s
		do(&t, &t.Owners[i])
		visit(explore.Step{Rule: r, Who: int8(i), X: int8(x)}, t)
	}
	o := s.Owners[i]
	stamp := o.Stamp()
	switch o.Phase {
	case Unborn, Bidding, Between:
		for x := stamp + 1; int(x) <= m.Stamps && m.mayDraw(o); x++ {
			step(draws, x, func(t *State, _ *Owner) { m.draw(t, i, x) })
		}
	case Holding:
		for x := o.Highest(); int(x) <= m.Stamps; x++ {
			step(renews, x, func(t *State, o *Owner) {
				o.Phase, o.Extends, o.Above = Renewing, with(o.Extends, x), m.highestHeld(&s, m.reader(i))
				t.forget(i, Voted)
			})
		}
	}
	switch {
	case o.Phase == Bidding && s.votes(i) >= m.need():
		step(wins, stamp, func(t *State, o *Owner) {
			o.Phase, o.Held, o.Above = Holding, true, 0
			m.relies(t, i)
			m.drop(t, i)
		})
	case o.Phase == Bidding && m.GiveBack && s.votes(i) > 0 && int(stamp) < m.Stamps && m.mayDraw(o):
		step(gives, stamp, func(t *State, o *Owner) {
			o.Phase, o.Above, o.Releases = Between, 0, with(o.Releases, stamp)
			t.forget(i, Voted)
			m.drop(t, i)
		})
	case o.Phase == Renewing:
		if s.votes(i) >= m.need() {
			step(extended, 0, func(t *State, o *Owner) {
				o.Phase, o.Above = Holding, 0
				m.relies(t, i)
			})
		}
		step(unrenewed, 0, func(t *State, o *Owner) {
			o.Phase, o.Above = Holding, 0
			t.forget(i, Voted)
		})
	}
	if o.Phase == Bidding || o.Phase == Between || o.Believes() {
		step(ends, 0, func(t *State, _ *Owner) { m.end(t, i) })
	}
	if m.Passes && o.Believes() && !m.reader(i) {
		m.passSteps(s, i, visit)
	}
}

// passSteps are the passes of a writer's lease.
func (m Model) passSteps(s State, i int, visit func(explore.Step, State)) {
	for j := range m.owners() {
		next := s.Owners[j]
		if j == i || next.Phase > Between || !m.mayDraw(next) || next.From != 0 {
			continue
		}
		// One process draws its stamps from one clock, so the later stamp is higher.
		for x := max(s.Owners[i].Highest(), next.Stamp()) + 1; int(x) <= m.Stamps; x++ {
			t := s
			t.Owners[i].Phase, t.Owners[i].Above = Passed, 0
			t.forget(i, Voted|Backs)
			t.Owners[j].From = uint8(i + 1)
			m.draw(&t, j, x)
			visit(explore.Step{Rule: passes, Who: int8(i), X: int8(j), Y: int8(x)}, t)
		}
	}
}
