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
	clears
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
			for i := range m.servers() {
				if p := &n.Servers[i]; a.Age > m.Named || p.Of >= 0 || !p.Named {
					a.Asked &^= 1 << i
				}
			}
			a.View, a.Age = n.Owner, 0
		})
		if a.Call.Kind != None {
			do(runs, func(n *State, a *Client, _ *Server) { m.run(n, c, a.Call, 0) })
		}
		if a.View < 0 {
			continue
		}
		to := &s.Servers[a.View]
		if a.Relies > 0 || !to.Slot.Record && to.Owns && to.Of < 0 { // a waiter that gives up releases the name, too
			do(gives, func(_ *State, a *Client, v *Server) {
				token := a.Token
				if a.Relies == 0 {
					token = m.Window + 1
				}
				if a.Relies, a.Token = 0, 0; v.Owns && v.Of < 0 {
					m.release(v, c, token)
				}
			})
		}
		asked := a.Asked>>a.View&1 != 0 || m.without(Turn)
		if asked && (a.Age <= m.Named || m.without(Confirmed)) {
			kind := Acquire
			if a.Relies > 0 {
				kind = Renew
			}
			for at.X = 0; at.X <= m.Window; at.X++ { // how far the stamp is behind
				do(sends, func(n *State, a *Client, _ *Server) {
					m.run(n, c, Call{Kind: kind, To: a.View}, at.X)
				})
			}
			if at.X = 0; m.Shorter && kind == Renew {
				at.Y = 1
				do(sends, func(_ *State, a *Client, v *Server) { m.extend(v, c, m.TTL-1, a.Token, 0, false) })
				at.Y = 0
			}
			if m.Late > 0 && a.Call.Kind == None && (m.Window > 0 || kind == Renew) {
				do(sends, func(_ *State, a *Client, _ *Server) {
					if a.Call = (Call{Kind: kind, To: a.View}); kind == Renew {
						a.Call.Last = a.Relies + m.Window
					}
				})
			}
		}
		if !to.Owns || to.Of >= 0 {
			continue
		}
		do(admits, func(_ *State, a *Client, v *Server) { // or no proof was found
			m.admit(a.View, v, Proof{}, 0)
			a.heard(v)
		})
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
			next.Clients[c].heard(&next.Servers[a.View])
			at.Rule = adopts
			visit(at, next)
		}
	}
}

// heard notes the answer of the server in View to a question for admission.
func (a *Client) heard(v *Server) {
	if v.Slot.Phase == Votes && v.Slot.Guard {
		a.Asked |= 1 << a.View
	}
}

// proof returns what a server says about its memory.
func (m Model) proof(s *State, server int8) Proof {
	p := &s.Servers[server]
	return Proof{Run: p.Run, Data: p.Data, Evicted: p.Evicted, Copied: p.Second != 0 || p.Fed != 0, Clock: m.clock(server)}
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
			n.begins(client, call.To)
			a.Relies, a.Token, n.Last = max(m.TTL-m.Margin-call.Age, 0), age, age
		}
	case call.Kind == Renew && a.Relies == 0: // the client has released the lease, or lost it
		m.extend(v, client, age, m.Window+1, call.Last, true)
	case call.Kind == Renew:
		switch had, voted := m.extend(v, client, age, a.Token, call.Last, false); {
		case had:
			excess := max(0, age-m.Window)
			a.Relies = max(a.Relies, m.TTL-m.Margin-call.Age-excess)
		case voted:
			a.Relies, a.Token = 0, 0
		}
	}
}

// begins notes that the lease of a client on a server is another one than those before.
func (s *State) begins(client, on int8) {
	for i := range s.Servers {
		for _, slot := range s.Servers[i].copies() {
			if slot == &s.Servers[on].Slot {
				continue
			}
			if slot.Over[client] = false; slot.Holder == client+1 {
				slot.Holder = 3
			}
		}
	}
	s.Clients[client].Call = Call{}
}

// later is the passing of a tick.
func (m Model) later(s State) State {
	down := func(n *int8) { *n = max(*n-1, 0) }
	for i := range s.Servers {
		v := &s.Servers[i]
		if v.Away = min(v.Away+1, m.Named+m.Window+1); v.Young {
			v.Up++
			if v.Up >= m.quarantine() {
				v.Young, v.Up = false, 0
			}
		}
		for _, slot := range v.copies() {
			down(&slot.Lease)
			down(&slot.Came)
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
		if down(&a.Relies); a.Relies == 0 {
			a.Token = 0
		} else {
			a.Token = min(a.Token+1, m.Window+1)
		}
		if a.Age = a.Age + 1; a.Age > m.Named {
			if a.Age = m.Named + 1; m.without(Confirmed) {
				a.Age = m.Named
			}
		}
		if a.View < 0 {
			a.Age = 0
		}
		if a.Call.Kind == Renew {
			a.Call.Last--
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
		for _, slot := range s.Servers[i].copies() {
			slot.Idle = slot.Idle || slot.Phase == Votes
			slot.Guard = false
		}
	}
	for c := range s.Clients {
		s.Clients[c] = Client{View: -1}
	}
	return s
}
