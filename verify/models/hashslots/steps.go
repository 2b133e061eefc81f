package hashslots

import "github.com/holdfast-go/holdfast/verify/models/explore"

// Model is the world of a configuration.
type Model struct{ Config }

// These are the steps. The clients do the first ones.
const (
	asks explore.Rule = iota
	sends
	runs
	gives
	proves
	adopts
	admits
	ticks
	hour
	moves
	forces
	promotes
	hears
	copies
	syncs
	saves
	restarts
	evicts
	leaps
)

// Steps implements [explore.Model].
func (m Model) Steps(s State, visit func(explore.Step, State)) {
	m.clientSteps(&s, visit)
	m.worldSteps(&s, visit)
	visit(explore.Step{Rule: ticks}, m.later(s))
	if s.Left.Hours > 0 {
		visit(explore.Step{Rule: hour}, m.idle(s))
	}
}

// clientSteps are the steps of the clients.
func (m Model) clientSteps(s *State, visit func(explore.Step, State)) {
	for c := range int8(2) {
		a := &s.Clients[c]
		at := explore.Step{Who: c, Node: a.View}
		do := func(rule explore.Rule, change func(n *State, a *Client, v *Server)) {
			next := *s
			to := a.View
			if rule == runs {
				to = a.Call.To
			}
			if to < 0 {
				to = s.Owner
			}
			change(&next, &next.Clients[c], &next.Servers[to])
			if next != *s {
				at.Rule, at.Node = rule, to
				visit(at, next)
			}
		}
		do(asks, func(n *State, a *Client, _ *Server) {
			a.View, a.Age = n.Owner, 0
		})
		if a.Call.Kind != None {
			do(runs, func(n *State, a *Client, _ *Server) { m.run(n, c, a.Call, 0) })
		}
		if a.View < 0 {
			continue
		}
		to := &s.Servers[a.View]
		if a.Relies > 0 {
			do(gives, func(_ *State, a *Client, v *Server) {
				if a.Relies = 0; v.Owns && v.Slot.Holder == c+1 {
					v.Slot.Holder, v.Slot.Lease = 0, 0
				}
			})
		}
		if a.Age <= m.Named || m.without(Confirmed) {
			kind := Acquire
			if a.Relies > 0 {
				kind = Renew
			}
			for at.X = 0; at.X <= m.Window; at.X++ { // how far the stamp is behind
				do(sends, func(n *State, a *Client, _ *Server) {
					m.run(n, c, Call{kind, a.View, 0}, at.X)
				})
			}
			at.X = 0
			if m.Late > 0 && a.Call.Kind == None && (m.Window > 0 || kind == Renew) {
				do(sends, func(_ *State, a *Client, _ *Server) { a.Call = Call{kind, a.View, 0} })
			}
		}
		if !to.Owns || to.Of >= 0 {
			continue
		}
		do(admits, func(_ *State, _ *Client, v *Server) { m.admit(a.View, v, Proof{}, 0) }) // or no proof was found
		m.proofSteps(s, c, visit)
	}
}

// proofSteps are the steps of a client for the adoption of a slot.
func (m Model) proofSteps(s *State, c int8, visit func(explore.Step, State)) {
	a := &s.Clients[c]
	at, to := explore.Step{Who: c, Node: a.View}, &s.Servers[a.View]
	arrived := m.foreign(to)
	for i := range m.servers() {
		p := &s.Servers[i]
		if p.Of < 0 && (arrived && i != a.View && (p.Run == to.Slot.Run || m.without(ProofRun)) || m.without(Arrived)) && (p.Named || m.without(NamedNow)) {
			next := *s
			next.Clients[c].Proof = m.proof(s, i)
			at.Rule, at.X = proves, i
			visit(at, next)
		}
	}
	most := int8(0)
	if m.without(Reading) {
		most = m.apart()
	}
	for at.X = 0; arrived && at.X <= most; at.X++ {
		if m.fits(a.View, to, a.Proof, at.X) {
			next := *s
			m.admit(a.View, &next.Servers[a.View], a.Proof, at.X)
			at.Rule = adopts
			visit(at, next)
		}
	}
}

// proof returns what a server says about its memory.
func (m Model) proof(s *State, server int8) Proof {
	p := &s.Servers[server]
	return Proof{Run: p.Run, Data: p.Data, Evicted: p.Evicted, Copied: p.Second != 0, Clock: m.clock(server)}
}

// run runs a call on its server. behind is by how much its stamp is behind.
func (m Model) run(n *State, client int8, call Call, behind int8) {
	a, v := &n.Clients[client], &n.Servers[call.To]
	if call == a.Call {
		a.Call = Call{}
	}
	age := call.Age + behind
	switch {
	case call.Kind == Acquire && age <= m.Window && a.Relies == 0:
		if m.grant(v, client, age) {
			a.Relies, n.Last = max(m.TTL-m.Margin-call.Age, 0), age
		}
	case call.Kind == Renew && a.Relies > 0:
		switch had, voted := m.extend(v, client, age); {
		case had:
			excess := max(0, age-m.Window)
			a.Relies = max(a.Relies, m.TTL-m.Margin-call.Age-excess)
		case voted:
			a.Relies = 0
		}
	}
}

// later is the passing of a tick.
func (m Model) later(s State) State {
	down := func(n *int8) { *n = max(*n-1, 0) }
	for i := range s.Servers {
		v := &s.Servers[i]
		v.Reign = min(v.Reign+1, m.quarantine())
		for _, slot := range []*Slot{&v.Slot, &v.Saved} {
			down(&slot.Lease)
			if slot.Quiet = max(slot.Quiet-1, -m.Ahead); slot.Phase != Quarantine || slot.Run == v.Run {
				slot.Quiet = max(slot.Quiet, 0)
			}
			slot.Seen = min(slot.Seen+1, m.Window+1)
			if !slot.Record {
				slot.Seen = 0
			}
		}
	}
	s.Last = min(s.Last+1, m.Window+1)
	for c := range s.Clients {
		a := &s.Clients[c]
		down(&a.Relies)
		if a.Age = a.Age + 1; a.Age > m.Named {
			if a.Age = m.Named + 1; m.without(Confirmed) {
				a.Age = m.Named
			}
		}
		if a.View < 0 {
			a.Age = 0
		}
		if a.Call.Age++; a.Call.Kind == None || a.Call.Age > m.Late {
			a.Call = Call{}
		}
		if a.Proof.Age++; a.Proof.Run == 0 || a.Proof.Age > m.apart()+m.Ahead {
			a.Proof = Proof{}
		}
	}
	return s
}

// idle is an hour in which nobody uses the name: all leases, quarantines and guards end. A guard that was not refreshed
// expires, and the key kept does not.
func (m Model) idle(s State) State {
	for range m.TTL + m.quarantine() {
		s = m.later(s)
	}
	s.Left.Hours--
	for i := range s.Servers {
		for _, slot := range []*Slot{&s.Servers[i].Slot, &s.Servers[i].Saved} {
			slot.Idle = slot.Idle || slot.Phase == Votes
			slot.Guard = false
		}
	}
	for c := range s.Clients {
		s.Clients[c] = Client{View: -1}
	}
	return s
}
