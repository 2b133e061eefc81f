package token

import "github.com/holdfast-go/holdfast/verify/models/explore"

// These are the possible steps. A message that was sent can be executed in every later state.
const (
	draws     explore.Rule = iota // an owner draws a stamp (X) and asks all nodes
	wins                          // it has a majority
	renews                        // it sends a renewal to all nodes
	extended                      // the renewal has a majority
	unrenewed                     // the renewal fails
	gives                         // it gives back a partial grant and will continue
	ends                          // it gives up or releases; X is the highest stamp that it names
	passes                        // it ends its lease in favour of another (X), which draws a stamp (Y)
	acquires                      // a node executes an acquire with stamp X
	extends                       // a node executes an extend
	releases                      // a node executes a release up to X; Y is 1 if its clock is behind
	handsOff                      // a node reserves the free name
	expires                       // a node's record expires
	forgets                       // a node loses its memory, and its quarantine ends
	offers                        // an owner releases up to X, with the stamp Y for the next owner
	grants                        // a node executes such a release up to X, and gives the lease to an owner (Y)
	hears                         // an owner hears that a node gave it the lease of another (X)
	restores                      // a node loses its memory, finds an older record of an owner (X), and does not vote
	returns                       // it votes again
)

// Steps implements [explore.Model].
func (m Model) Steps(s State, visit func(explore.Step, State)) {
	for i := range m.Owners {
		m.ownerSteps(s, i, visit)
		for n := range nodes {
			m.mailSteps(s, i, n, visit)
		}
	}
	for n := range nodes {
		m.nodeSteps(s, n, visit)
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
		for x := o.Highest() + 1; int(x) <= m.Stamps && m.mayDraw(o); x++ {
			step(draws, x, func(t *State, _ *Owner) { m.draw(t, i, x) })
		}
	case Holding:
		step(renews, 0, func(t *State, o *Owner) {
			o.Phase, o.Above = Renewing, s.highestHeld()
			t.forgetVotes(i)
			for n := range t.Nodes {
				t.Nodes[n].By[i] |= Extends
			}
		})
	}
	switch {
	case o.Phase == Bidding && s.votes(i) >= m.need():
		step(wins, stamp, func(t *State, o *Owner) {
			o.Phase, o.Held, o.Above = Holding, true, 0
			t.forgetVotes(i)
			m.drop(t, i)
		})
	case o.Phase == Bidding && m.GiveBack && s.votes(i) > 0 && int(o.Highest()) < m.Stamps && m.mayDraw(o):
		step(gives, m.named(o), func(t *State, o *Owner) {
			o.Phase, o.Above, o.Releases = Between, 0, with(o.Releases, m.named(*o))
			t.forgetVotes(i)
			m.drop(t, i)
		})
	case o.Phase == Renewing:
		back := func(t *State, o *Owner) {
			o.Phase, o.Above = Holding, 0
			t.forgetVotes(i)
		}
		if s.votes(i) >= m.need() {
			step(extended, 0, back)
		}
		step(unrenewed, 0, back)
	}
	if o.Phase == Bidding || o.Phase == Between || o.Believes() {
		named := m.named(o)
		top := named
		if m.Above && s.renewed(i) {
			top = uint8(m.Stamps)
		}
		for x := named; x <= top; x++ {
			step(ends, x, func(t *State, _ *Owner) { m.end(t, i, x) })
			if m.Given && o.Believes() {
				m.offerSteps(s, i, x, visit)
			}
		}
	}
	if m.Passes && o.Believes() {
		m.passSteps(s, i, visit)
	}
}

// passSteps are the passes of an owner's lease.
func (m Model) passSteps(s State, i int, visit func(explore.Step, State)) {
	for j := range m.Owners {
		next := s.Owners[j]
		if j == i || next.Phase > Between || !m.mayDraw(next) || next.From != 0 {
			continue
		}
		// One process draws its stamps from one clock, so the later stamp is higher.
		for x := max(s.Owners[i].Highest(), next.Highest()) + 1; int(x) <= m.Stamps; x++ {
			t := s
			t.Owners[i].Phase, t.Owners[i].Above = Passed, 0
			t.forgetVotes(i)
			t.Owners[j].From = uint8(i + 1)
			m.draw(&t, j, x)
			visit(explore.Step{Rule: passes, Who: int8(i), X: int8(j), Y: int8(x)}, t)
		}
	}
}

// mailSteps are the steps in which a node executes messages of an owner.
func (m Model) mailSteps(s State, i, n int, visit func(explore.Step, State)) {
	o, by, owner := s.Owners[i], s.Nodes[n].By[i], uint8(i+1)
	step := func(r explore.Rule, x, y uint8, do func(t *State, n *Node)) {
		t := s
		do(&t, &t.Nodes[n])
		if t != s {
			visit(explore.Step{Rule: r, Who: int8(i), Node: int8(n), X: int8(x), Y: int8(y)}, t)
		}
	}
	for x := uint8(1); int(x) <= m.Stamps; x++ {
		if o.Acquires != 0 && has(o.Acquires, x) {
			step(acquires, x, 0, func(_ *State, n *Node) {
				said := m.acquire(n, owner, x, o.From)
				if said != refused && o.Phase == Bidding && (x == o.Stamp() || !m.keeps(OneStamp)) {
					n.By[i] |= Voted
				}
			})
		}
		if o.Releases != 0 && has(o.Releases, x) {
			lease := o.Held && x >= o.Stamp() // not for a partial grant that it gave back before it won
			step(releases, x, 0, func(_ *State, n *Node) {
				n.By[i] = by.covering(m.release(n, owner, x, lease, false))
			})
			if m.AnyClock {
				step(releases, x, 1, func(_ *State, n *Node) {
					n.By[i] = by.covering(m.release(n, owner, x, lease, true))
				})
			}
		}
	}
	if m.Given {
		m.givenSteps(s, i, n, visit)
	}
	if by&Extends != 0 {
		step(extends, 0, 0, func(_ *State, n *Node) {
			if m.extend(n, owner, o.Stamp()) == yes && o.Phase == Renewing {
				n.By[i] |= Voted
			}
		})
	}
	if m.HandOffs && o.Acquires != 0 && !s.Nodes[n].Live {
		step(handsOff, 0, 0, func(_ *State, n *Node) { m.handOff(n, owner, 0) })
		if asker := s.Nodes[n].Owner; asker != 0 && asker != owner && s.Nodes[n].takes(s.Owners[asker-1].Stamp()) {
			step(handsOff, asker, 0, func(_ *State, n *Node) { m.handOff(n, owner, asker) })
		}
	}
}

// nodeSteps are the events on a node.
func (m Model) nodeSteps(s State, n int, visit func(explore.Step, State)) {
	if s.Nodes[n].Live {
		t := s
		t.Nodes[n].Live = false
		if t.Nodes[n].Token == 0 {
			t.Nodes[n].Owner = 0 // no script can distinguish an expired claim from an empty record
		}
		visit(explore.Step{Rule: expires, Node: int8(n)}, t)
	}
	if int(s.Wipes) < m.Wipes {
		t := s
		t.Wipes++
		m.forget(&t.Nodes[n], s.highestDrawn())
		visit(explore.Step{Rule: forgets, Node: int8(n)}, t)
		if m.OldData {
			m.restoreSteps(s, n, visit)
		}
	}
	if s.Nodes[n].Away {
		t := s
		t.Nodes[n].Away = false
		visit(explore.Step{Rule: returns, Node: int8(n)}, t)
	}
}
