package shared

import "github.com/holdfast-go/holdfast/verify/models/explore"

// These are the possible steps. A message that was sent can be executed in every later state.
const (
	draws     explore.Rule = iota // an owner draws a stamp (X) and asks all nodes
	wins                          // it has a majority
	renews                        // it sends a renewal with a stamp (X) to all nodes
	extended                      // the renewal has a majority
	unrenewed                     // the renewal fails
	gives                         // it gives back a partial grant and will continue
	ends                          // it gives up or releases
	passes                        // it ends its lease in favour of another (X), which draws a stamp (Y)
	acquires                      // a node executes an acquire with stamp X; Y is 1 if it sweeps
	extends                       // a node executes an extend with stamp X
	releases                      // a node executes a release up to X; Y is 1 if its clock is behind
	handsOff                      // a node reserves the free name
	expires                       // a node's record (X is 0) or its entry of a reader (X from 1) expires
	forgets                       // a node loses its memory, and its quarantine ends
)

// Steps implements [explore.Model].
func (m Model) Steps(s State, visit func(explore.Step, State)) {
	for i := range m.owners() {
		m.ownerSteps(s, i, visit)
		for n := range nodes {
			m.mailSteps(s, i, n, visit)
		}
	}
	for n := range nodes {
		m.nodeSteps(s, n, visit)
	}
}

// mailSteps are the steps in which a node executes messages of an owner.
func (m Model) mailSteps(s State, i, n int, visit func(explore.Step, State)) {
	o, owner := s.Owners[i], uint8(i+1)
	step := func(r explore.Rule, x, y uint8, do func(n *Node)) {
		t := s
		do(&t.Nodes[n])
		if t != s {
			visit(explore.Step{Rule: r, Who: int8(i), Node: int8(n), X: int8(x), Y: int8(y)}, t)
		}
	}
	for x := uint8(1); int(x) <= m.Stamps; x++ {
		if o.Acquires != 0 && has(o.Acquires, x) {
			for y := range uint8(2) {
				if y == 1 && !(m.Sweeps && m.reader(i)) {
					continue
				}
				step(acquires, x, y, func(n *Node) {
					var said answer
					if m.reader(i) {
						said = m.acquireShared(n, owner, x, o.From, y == 1)
					} else {
						said = m.acquire(n, owner, x, o.From)
					}
					if said != refused && o.Phase == Bidding && x == o.Stamp() {
						n.By[i] |= Voted
					}
				})
			}
		}
		if o.Extends != 0 && has(o.Extends, x) {
			step(extends, x, 0, func(n *Node) {
				extend := m.extend
				if m.reader(i) {
					extend = m.extendShared
				}
				if extend(n, owner, o.Stamp(), x) == yes && o.Phase == Renewing && x == top(o.Extends) {
					n.By[i] |= Voted
				}
			})
		}
		if o.Releases == 0 || !has(o.Releases, x) {
			continue
		}
		lease := o.Held && x >= o.Stamp() // not for a partial grant that it gave back before it won
		for y := range uint8(2) {
			if y == 1 && !m.AnyClock {
				continue
			}
			step(releases, x, y, func(n *Node) {
				release := m.release
				if m.reader(i) {
					release = m.releaseShared
				}
				n.By[i] = n.By[i].covering(release(n, owner, x, lease, y == 1))
			})
		}
	}
	if m.HandOffs && o.Acquires != 0 {
		m.handOffs(s, i, n, step)
	}
}

// handOffs are the steps in which a node reserves the name for an owner.
func (m Model) handOffs(s State, i, n int, step func(r explore.Rule, x, y uint8, do func(n *Node))) {
	was, owner := s.Nodes[n], uint8(i+1)
	if was.Live || !m.reader(i) && was.read(true) >= 0 || was.alive(i) {
		return
	}
	give := func(asker uint8) func(n *Node) {
		if m.reader(i) {
			return func(n *Node) { n.handOffShared(owner, asker, was.read(false) >= 0) }
		}
		return func(n *Node) { n.handOff(owner, asker) }
	}
	step(handsOff, 0, 0, give(0))
	if asker := was.Owner; asker != 0 && asker != owner && 2*s.Owners[asker-1].Stamp() > max(was.Seen, was.RSeen, 2*was.Floor) {
		step(handsOff, asker, 0, give(asker))
	}
}

// nodeSteps are the events on a node.
func (m Model) nodeSteps(s State, n int, visit func(explore.Step, State)) {
	was := &s.Nodes[n]
	if was.Live && (was.Token == 0 || m.mayExpire(&s, n, int(was.Owner-1))) {
		t := s
		is := &t.Nodes[n]
		if is.Live = false; is.Token == 0 {
			is.Owner = 0 // no script can distinguish an expired claim from an empty record
		}
		visit(explore.Step{Rule: expires, Node: int8(n)}, t)
	}
	for i := range m.owners() {
		if was.alive(i) && (!was.Entries[i].Grant() || m.mayExpire(&s, n, i)) {
			t := s
			is := &t.Nodes[n]
			if is.Lives &^= 1 << i; !is.Entries[i].Grant() {
				is.Entries[i] = 0
			}
			visit(explore.Step{Rule: expires, Node: int8(n), X: int8(i + 1)}, t)
		}
	}
	if int(s.Wipes) < m.Wipes {
		t := s
		t.Wipes++
		t.Nodes[n] = Node{By: was.By}
		for _, o := range s.Owners { // the quarantine: its window refuses stamps that were drawn before
			t.Nodes[n].Floor = max(t.Nodes[n].Floor, o.Highest())
		}
		visit(explore.Step{Rule: forgets, Node: int8(n)}, t)
	}
}

// mayExpire reports whether an owner's grant may expire on a node now.
func (m Model) mayExpire(s *State, n, owner int) bool {
	if !m.Timely {
		return true
	}
	o, by := s.Owners[owner], s.Nodes[n].By[owner]
	return !(o.Believes() && by&Backs != 0) && !((o.Phase == Bidding || o.Phase == Renewing) && by&Voted != 0)
}
