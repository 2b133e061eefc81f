package hashslots

import "github.com/holdfast-go/holdfast/verify/models/explore"

// worldSteps are the steps of the cluster, and the faults.
func (m Model) worldSteps(s *State, visit func(explore.Step, State)) {
	do := func(step explore.Step, next State) {
		if next != *s {
			visit(step, next)
		}
	}
	fault := func(left func(l *Left) *int8, step explore.Step, change func(n *State)) {
		next := *s
		if n := left(&next.Left); *n > 0 && next.Left.All > 0 {
			*n--
			next.Left.All--
			change(&next)
			visit(step, next)
		}
	}
	for i := range m.servers() {
		v := &s.Servers[i]
		at := explore.Step{Node: i}
		for j := range m.servers() {
			if j == i || s.Servers[j].Of >= 0 || !s.Servers[j].Named {
				continue
			}
			at.X = j
			if at.Rule = moves; v.Of < 0 && v.Owns && !s.Servers[j].Owns && (s.Owner == i || m.Cut) && (m.Passed || !v.Slot.Torn) {
				parts := int8(1)
				if m.Parts && v.Slot.Record {
					parts = 3 // 1: the record stays behind; 2: it comes after the target has saved its data
				}
				back := v.Slot.Run == s.Servers[j].Run && !m.Passed // no server asks for a proof there
				for at.Y = range parts {
					if back && (at.Y == 1 || v.Slot.Lacks) {
						continue
					}
					fault(func(l *Left) *int8 { return &l.Moves }, at, func(n *State) { m.move(n, i, j, at.Y) })
				}
				at.Y = 0
			}
			if at.Rule = forces; s.Owner == i && (m.GiveBack || s.Servers[j].Slot == Slot{}) {
				fault(func(l *Left) *int8 { return &l.Forces }, at, func(n *State) { n.Owner, n.Servers[j].Owns = j, true })
			}
		}
		at.X = 0
		if v.Of >= 0 {
			if at.Rule = promotes; s.Servers[v.Of].Of < 0 && (v.Synced || m.GiveBack) && (v.Away > m.Named+m.Window || m.Quick) {
				for at.X = range int8(2) { // 1: the former master keeps other slots
					if at.X == 0 || m.OtherSlots {
						fault(func(l *Left) *int8 { return &l.Promotions }, at, func(n *State) { m.promote(n, i, at.X == 1) })
					}
				}
				at.X = 0
			}
			if at.Rule = copies; s.Left.Promotions > 0 && s.Servers[v.Of].Of < 0 {
				next := *s
				m.copy(&next, i)
				do(at, next)
			}
			continue
		}
		if at.Rule = clears; v.Fed != 0 || v.Second != 0 {
			fault(func(l *Left) *int8 { return &l.Clears }, at, func(n *State) {
				n.Fresh++
				n.Servers[i].Data, n.Servers[i].Second = n.Fresh, 0
			})
		}
		if at.Rule = hears; s.Owner != i && v.Owns && v.Named { // it keeps other slots, and deletes the keys of this one
			next := *s
			next.Servers[i].Owns, next.Servers[i].Slot = false, Slot{}
			do(at, next)
		}
		if at.Rule = syncs; !v.Named && s.Left.Returns > 0 {
			for j := range m.servers() {
				if w := &s.Servers[j]; w.Of < 0 && w.Named && w.Owns && s.Owner == j {
					at.X = j
					fault(func(l *Left) *int8 { return &l.Returns }, at, func(n *State) { m.follow(n, i, j) })
				}
			}
			at.X = 0
		}
		if at.Rule = saves; s.Left.Restarts > 0 && !m.OnlyEmpty {
			next := *s
			next.Servers[i].Saved = v.Slot
			do(at, next)
		}
		at.Rule = restarts
		fault(func(l *Left) *int8 { return &l.Restarts }, at, func(n *State) { m.restart(n, i, Slot{}) })
		if at.X = 1; !m.OnlyEmpty && v.Saved != (Slot{}) && v.Owns {
			fault(func(l *Left) *int8 { return &l.Restarts }, at, func(n *State) { m.restart(n, i, v.Saved) })
		}
		at.X = 0
		if at.Rule = evicts; v.Slot.Record {
			fault(func(l *Left) *int8 { return &l.Evictions }, at, func(n *State) {
				w := &n.Servers[i]
				w.Evicted++
				w.Slot.forget()
			})
		}
		if at.Rule = leaps; v.Slot.Record {
			fault(func(l *Left) *int8 { return &l.Leaps }, at, func(n *State) {
				w := &n.Servers[i].Slot
				w.forget()
				w.Guard, w.Kept = false, false
			})
		}
	}
}

func (s *Slot) forget() { s.Record, s.Holder, s.Lease, s.Seen, s.Over = false, 0, 0, 0, [2]bool{} }

// at returns the slot as another server counts its times.
func (m Model) at(s Slot, from, to int8) Slot {
	ahead := m.clock(to) - m.clock(from)
	s.Lease, s.Came = max(s.Lease-ahead, 0), max(s.Came-ahead, 0)
	if s.Phase == Quarantine {
		s.Quiet = max(s.Quiet-ahead, -m.Ahead)
	}
	return s
}

// move moves the slot with its keys, but see worldSteps for parts of them.
func (m Model) move(n *State, from, to, parts int8) {
	a, b := &n.Servers[from], &n.Servers[to]
	b.Slot = m.at(a.Slot, from, to)
	switch parts {
	case 1:
		b.Slot.forget()
		b.Slot.Lacks = true
	case 2:
		b.Saved = b.Slot
		b.Saved.forget()
	}
	a.Slot, a.Owns, b.Owns, n.Owner = Slot{}, false, true, to
}

// promote makes a replica a master. The former master lives, and has heard of nothing.
func (m Model) promote(n *State, i int8, others bool) {
	v := &n.Servers[i]
	old := &n.Servers[v.Of]
	n.Fresh++
	v.Second, v.Data, v.Fed, v.Young, v.Up, v.Named = v.Data, n.Fresh, n.Fresh, true, 0, true
	if n.Owner == v.Of {
		n.Owner, v.Owns = i, true
	}
	old.Named, old.Away = others, 0
	v.Of, v.Synced = -1, false
	v.Slot.Torn = v.Slot.Run != 0 && v.Slot.Run != v.Run
}

// copy brings a replica all writes of its master.
func (m Model) copy(n *State, i int8) {
	v := &n.Servers[i]
	of := &n.Servers[v.Of]
	if v.Data != of.Data { // a full copy
		v.Data, v.Second = of.Data, 0
	}
	v.Slot, v.Synced = m.at(of.Slot, v.Of, i), true
}

// follow makes a former master a replica.
func (m Model) follow(n *State, i, of int8) {
	v := &n.Servers[i]
	v.Of, v.Owns, v.Synced = of, false, false
	if m.Synced {
		m.copy(n, i)
	}
}

// restart restarts a server. It has the hash slots that it had.
func (m Model) restart(n *State, i int8, data Slot) {
	v := &n.Servers[i]
	n.Fresh++
	data.Torn = data.Run != 0 && data.Run != v.Run // no server has v.Run any more
	v.Run, v.Data, v.Second, v.Fed, v.Evicted, v.Young, v.Up, v.Slot = n.Fresh, n.Fresh, 0, 0, 0, data != Slot{}, 0, data
	for c := range n.Clients {
		if n.Clients[c].Call.To == i {
			n.Clients[c].Call = Call{}
		}
	}
}
