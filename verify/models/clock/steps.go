package clock

import "github.com/holdfast-go/holdfast/verify/models/explore"

// These are the possible steps. A message that was sent can be executed in every later state in which the node accepts
// it.
const (
	ticks    explore.Rule = iota // time passes
	draws                        // a client draws a stamp and asks all nodes
	wins                         // it has a majority before the deadline
	renews                       // it sends a renewal to all nodes
	extended                     // renewal X has a majority
	gives                        // it gives back a partial grant and continues
	ends                         // it gives up, or releases
	passes                       // it ends its lease in favour of client X
	reads                        // it reads the nodes' clocks
	acquires                     // a node executes the acquire of round X
	extends                      // a node executes renewal X
	releases                     // a node executes a release up to stamp X
	handsOff                     // a node reserves the free name
	jumps                        // a node's clock is now X from the true time
	forgets                      // a node loses its memory
	admits                       // a node is asked to vote, with the stamp X
	trusts                       // the same, after a voucher
	vouches                      // an operator vouches for loss X
	offers                       // a client releases its lease, with a stamp for the next owner
	grants                       // a node executes such a release, and gives the lease to client X
	hears                        // a client hears that a node gave it the lease of client X
)

// Steps implements [explore.Model].
func (m Model) Steps(s State, visit func(explore.Step, State)) {
	if s.Now < start+m.Horizon {
		t := s
		m.tick(&t)
		visit(explore.Step{Rule: ticks}, t)
	}
	for i := range m.Clients {
		m.clientSteps(&s, i, visit)
		for n := range nodes {
			m.mailSteps(&s, i, n, visit)
		}
	}
	for n := range nodes {
		m.nodeSteps(&s, n, visit)
	}
}

// clientSteps are the steps of a client by itself.
func (m Model) clientSteps(s *State, i int, visit func(explore.Step, State)) {
	step := func(r explore.Rule, x int, do func(t *State)) {
		t := *s
		do(&t)
		if t != *s {
			visit(explore.Step{Rule: r, Who: int8(i), X: int8(x)}, t)
		}
	}
	c := &s.Clients[i]
	more := c.Rounds < m.rounds(i)
	if (c.Phase == Idle && !(m.Passes && i == 1) || c.Phase == Bidding || c.Phase == Between) && more && !c.Moved {
		step(draws, 0, func(t *State) { m.draw(t, i) })
	}
	if c.Phase == Bidding && s.yes(i, Granted) >= m.need() {
		step(wins, 0, func(t *State) { m.win(t, i) })
	}
	if c.Phase == Bidding && m.GiveBack && more && s.yes(i, Granted) > 0 {
		step(gives, 0, func(t *State) {
			c := &t.Clients[i]
			if m.Given > 0 {
				c.Back = c.Highest()
			}
			c.Phase, c.Above, c.Freed = Between, 0, c.Freed|FreedFirst
			t.forgetYes(i, Granted)
			m.drop(t, i)
		})
	}
	if c.Phase == Holding && c.Count < m.Renewals[i] && s.Now > c.lastSent() {
		for stray := -m.Stray; stray <= m.Stray; stray++ {
			step(renews, 0, func(t *State) { m.renew(t, i, stray) })
		}
	}
	for k := range int(c.Count) {
		if (c.Phase == Holding || c.Phase == Lapsed) && s.yes(i, m.answers(k)) >= m.need() && m.until(s, i, k) > c.Until {
			step(extended, k, func(t *State) { m.extended(t, i, k) })
		}
	}
	if m.Passes && i == 0 && c.Phase == Holding && s.Clients[1].Phase == Idle {
		step(passes, 1, func(t *State) { m.pass(t, i, 1) })
	}
	if m.Releases && (c.Phase == Bidding || c.Phase == Between || c.Phase == Holding) {
		step(ends, 0, func(t *State) { m.end(t, i) })
	}
	if m.Given > 0 && c.Phase == Holding {
		for stray := -m.Stray; stray <= m.Stray; stray++ {
			step(offers, int(stray), func(t *State) { m.offer(t, i, stray) })
		}
	}
	if m.Follow != Never && c.Phase == Idle {
		step(reads, 0, func(t *State) { m.read(t, i) })
	}
}

// mailSteps are the steps in which a node executes messages of a client.
func (m Model) mailSteps(s *State, i, n int, visit func(explore.Step, State)) {
	c, owner, clock := &s.Clients[i], int8(i+1), s.Clock(n)
	step := func(r explore.Rule, x int8, do func(t *State, n *Node)) {
		t := *s
		do(&t, &t.Nodes[n])
		if t != *s {
			visit(explore.Step{Rule: r, Who: int8(i), Node: int8(n), X: x}, t)
		}
	}
	for r, stamp := range c.Stamps[:c.Rounds] {
		if m.open(s, n, stamp) {
			step(acquires, int8(r), func(_ *State, n *Node) {
				held := n.live(clock) && n.Owner != owner
				switch granted := m.acquire(n, clock, owner, stamp, c.From); {
				case granted && c.Phase == Bidding && r == int(c.Rounds)-1 && c.Given == 0:
					n.By[i] |= Granted
				case !granted && held && m.Given > 0 && !m.Pings && (c.Phase == Bidding || c.Phase == Between):
					m.answer(&n.Heard[i], c.Asked[r], n.Seen)
				}
			})
		}
	}
	for k := range int(c.Count) {
		if m.openLate(s, n, c.Stamp[k]) {
			step(extends, int8(k), func(_ *State, n *Node) {
				// The first answer is the only one: the driver does not repeat a request.
				said := false
				if m.Turns {
					said = m.turn(n, owner, c.Token(), c.Stamp[k])
				} else {
					said = m.extend(n, clock, owner, c.Token(), c.Stamp[k], c.Last[k])
				}
				if said && (c.Phase == Holding || c.Phase == Lapsed) && n.By[i]&Extended(k) == 0 {
					n.By[i], n.Excess[i][k] = n.By[i]|Extended(k), m.excess(clock, c.Stamp[k])
				}
			})
		}
	}
	if c.Freed&FreedFirst != 0 {
		first := max(c.Stamps[0], c.Back)
		step(releases, first, func(_ *State, n *Node) { m.release(n, clock, owner, first, c.Held && c.Rounds == 1) })
	}
	if c.Freed&FreedAll != 0 {
		step(releases, c.Highest(), func(_ *State, n *Node) { m.release(n, clock, owner, c.Highest(), c.Held) })
	}
	if m.Given > 0 {
		m.givenSteps(s, i, n, visit)
	}
	if m.Claim > 0 && c.Phase == Bidding && s.Nodes[n].Away == Votes && !s.Nodes[n].live(clock) {
		step(handsOff, 0, func(_ *State, n *Node) { m.handOff(n, clock, owner, 0) })
		if asker := s.Nodes[n].Owner; asker != 0 && asker != owner {
			if stamp := s.Clients[asker-1].Token(); m.open(s, n, stamp) && 2*stamp > s.Nodes[n].Seen {
				step(handsOff, asker, func(_ *State, n *Node) { m.handOff(n, clock, owner, asker) })
			}
		}
	}
}

// nodeSteps are the events on a node.
func (m Model) nodeSteps(s *State, n int, visit func(explore.Step, State)) {
	step := func(r explore.Rule, x int8, do func(t *State, n *Node)) {
		t := *s
		do(&t, &t.Nodes[n])
		if t != *s {
			visit(explore.Step{Rule: r, Node: int8(n), X: x}, t)
		}
	}
	attacked := n == 0 || !m.Minority
	if attacked && int(s.Jumps) < m.Jumps {
		for off := -m.Reach; off <= m.Reach; off++ {
			if off != s.Nodes[n].Off {
				step(jumps, off, func(t *State, n *Node) { t.Jumps++; n.Off = off })
			}
		}
	}
	if n > 0 {
		return
	}
	if int(s.Wipes) < m.Wipes {
		step(forgets, 0, func(t *State, _ *Node) { m.forget(t) })
	}
	if m.Vouchers && s.Challenge != 0 && s.idle() {
		step(vouches, s.Challenge, func(t *State, _ *Node) { t.Vouched |= 1 << s.Challenge })
	}
	if s.Nodes[n].Away == Votes {
		return
	}
	for i := range m.Clients {
		lead := s.Clients[i].Lead
		m.asks(s, lead, 0, visit)
		for far := int8(1); far <= m.Far; far++ {
			m.asks(s, lead-far, far, visit)
			m.asks(s, lead+far, far, visit)
		}
	}
}

// asks are one client's requests to admit. The client asked all the time, and any of its requests may come now. With a
// challenge, these are the requests drawn since the challenge was written. far is the additional error that the stamps
// of this client may have.
func (m Model) asks(s *State, lead, far int8, visit func(explore.Step, State)) {
	clock := s.Clock(0)
	step := func(r explore.Rule, x int8, do func(t *State)) {
		t := *s
		do(&t)
		if t != *s {
			visit(explore.Step{Rule: r, X: x}, t)
		}
	}
	for _, answers := range []bool{false, true} {
		since := int8(start)
		if answers {
			since = s.Written
		}
		if answers && s.Challenge == 0 {
			continue
		}
		stamp := min(max(clock, since+lead), s.Now+lead) // the stamp that is closest to the node's clock
		step(admits, stamp, func(t *State) { m.admit(t, clock, stamp, m.within(far), answers, false) })
		if m.voucher(s) {
			step(trusts, stamp, func(t *State) { m.admit(t, clock, stamp, m.within(far), answers, true) })
		}
	}
}

// idle reports whether no lock is alive, and no sent message can make one.
func (s *State) idle() bool {
	for i := range s.Clients {
		if p := s.Clients[i].Phase; p != Idle && p != Over {
			return false
		}
	}
	return true
}
