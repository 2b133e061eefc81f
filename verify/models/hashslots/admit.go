package hashslots

// guarded reports whether the scripts of a server find their guard.
func (m Model) guarded(v *Server) bool {
	return v.Slot.Guard && (v.Slot.Run == v.Run || m.without(GuardRun))
}

// ready does the same as the function in admit.lua.
func (m Model) ready(v *Server) {
	s := &v.Slot
	s.Phase, s.Quiet, s.Guard, s.Kept, s.Idle, s.Torn, s.Lacks = Votes, 0, true, true, false, false, false
	s.Run, s.Data, s.Evicted, s.Fed = v.Run, v.Data, v.Evicted, v.Fed
}

// lost does the same as the function in quarantine.lua. The records stay.
func (m Model) lost(v *Server) {
	s := &v.Slot
	s.Phase, s.Quiet, s.Guard, s.Idle, s.Torn, s.Lacks = Asks, 0, false, false, false, false
	s.Run, s.Data, s.Evicted, s.Fed = v.Run, v.Data, v.Evicted, v.Fed
	if m.without(Lost) {
		m.ready(v)
	}
}

// foreign reports whether the slot may be adopted: see adopt.lua. The key kept outlives the guard by a quarantine, so it
// exists after an idle hour.
func (m Model) foreign(v *Server) bool {
	s := &v.Slot
	return s.Run != 0 && s.Run != v.Run && (s.Guard || s.Phase != Votes || s.Idle && s.Kept || m.without(Unguarded))
}

// fits reports whether a proof admits the slot on a server: see adopt.lua. early is by how much the client takes the
// proof for younger than it is.
func (m Model) fits(server int8, v *Server, p Proof, early int8) bool {
	s := &v.Slot
	return p.Run != 0 &&
		(p.Run == s.Run || m.without(ProofRun)) &&
		(p.Data == s.Data || !p.Copied || m.without(SameData)) &&
		(p.Evicted == s.Evicted || m.without(SameEvicted)) &&
		(v.Second != p.Data && v.Second != s.Data || m.without(NotReplica)) &&
		(m.differ(server, s, p, early) <= m.apart() || m.without(SameClock))
}

// differ returns by how much the clocks of the servers differ, with the differences of the moves before.
func (m Model) differ(server int8, s *Slot, p Proof, early int8) int8 {
	apart := m.clock(server) - p.Clock + p.Age - early
	if apart = max(apart, -apart); s.Came > 0 && !m.without(Sum) {
		apart += s.Apart
	}
	return apart
}

// settled reports whether a server shows that it has lost nothing of a slot since that came. See adopt.lua.
func (m Model) settled(v *Server) bool {
	replica := v.Fed != 0 || v.Second != 0
	return (!v.Young || replica && m.without(Promoted) || !replica && m.without(Started)) &&
		(v.Slot.Came == 0 || v.Slot.Settled || m.without(Carried))
}

// admit asks a server to admit the slot, with a proof or without one. It does the same as admit.lua with the parts
// quarantine and adopt.
func (m Model) admit(server int8, v *Server, p Proof, early int8) {
	s := &v.Slot
	copied := s.Data != v.Data && (v.Second != 0 || v.Fed != 0 && s.Run == v.Run && s.Fed != v.Fed && !m.without(Fed)) && !m.without(Changed)
	if m.foreign(v) && m.fits(server, v, p, early) {
		s.Settled, s.Apart, s.Came = m.settled(v), m.differ(server, s, p, early), m.quarantine()+m.apart()
		if s.Phase == Votes {
			m.ready(v)
			return
		}
		s.Guard, s.Run, s.Data, s.Evicted, s.Fed, s.Torn, s.Lacks, copied = false, v.Run, v.Data, v.Evicted, v.Fed, false, false, false
		if s.Phase == Quarantine {
			// The end is counted by the clock of the proof, and the server counts on from its own.
			rest := s.Quiet + m.clock(server) - p.Clock + p.Age - early + m.Window
			s.Quiet = min(max(rest, 0), m.quarantine())
			if m.without(Rest) {
				s.Quiet = 0
			}
		}
	}
	switch known := s.Run == v.Run; {
	case known && !copied && s.Evicted == v.Evicted && s.Guard:
		m.ready(v)
	case !known || copied || s.Evicted != v.Evicted:
		m.lost(v)
	case s.Phase == Votes && s.Idle && s.Kept:
		m.ready(v)
	case s.Phase == Votes:
		m.lost(v)
	case s.Phase == Asks && m.without(Begun):
	case s.Phase == Asks:
		s.Phase, s.Quiet = Quarantine, m.quarantine()
	case s.Quiet == 0:
		m.ready(v)
	}
}

// vote reports whether a script of a lock runs on a server. Without a record it also compares the number of evictions.
func (m Model) vote(v *Server) bool {
	if v.Of >= 0 || !v.Owns || !m.guarded(v) {
		return false
	}
	if !v.Slot.Record && v.Slot.Evicted != v.Evicted && !m.without(Evicted) {
		v.Slot.Guard = false
		return false
	}
	return true
}

// lately reports whether the slot came less than a quarantine ago.
func (m Model) lately(s *Slot) bool { return s.Came > m.apart() }

// hides reports whether a name without a record may have a lock that is missing here, so that no script stores a record.
func (m Model) hides(v *Server, rule Rule) bool {
	s := &v.Slot
	return !s.Record && (s.Run != v.Run || m.lately(s)) && !m.without(rule)
}

// grants reports whether the scripts of a server grant the name now if it is free.
func (m Model) grants(v *Server) bool {
	return m.vote(v) && !m.hides(v, Absent) && (!m.lately(&v.Slot) || v.Slot.Settled) && v.Slot.Lease == 0
}

// grant runs an acquire whose stamp has an age. It reports whether the client has the lease.
func (m Model) grant(v *Server, client, age int8) bool {
	s := &v.Slot
	if !m.grants(v) || s.Record && age > s.Seen {
		return false
	}
	s.Record, s.Holder, s.Lease, s.Seen = true, client+1, m.TTL-age, min(age, m.Window+1)
	s.Over[client], s.Over[1-client] = false, true
	return true
}

// extend runs a renewal whose stamp has an age, of a lease whose token has another one. last is the time until the deadline
// of the lease + W. over says that the client does not rely on it any more. A client whose only server did not have the
// lease gives it up, although the server stores it.
func (m Model) extend(v *Server, client, age, token, last int8, over bool) (had, voted bool) {
	if age >= m.TTL || !m.vote(v) {
		return false, false
	}
	s := &v.Slot
	if m.hides(v, Repaired) {
		s.Settled = false
	}
	if s.Record && (s.Holder == client+1 || over && s.Holder == 3) {
		s.Lease = max(s.Lease, m.TTL-age)
		return true, true
	}
	if s.Lease > 0 || s.Over[client] || last < 0 {
		return false, true
	}
	if !s.Record || token < s.Seen {
		s.Seen = token
	}
	if s.Record, s.Lease, s.Holder = true, m.TTL-age, client+1; over {
		s.Holder = 3
	}
	return false, true
}

// release runs a release of a client, with the age of the token of its lease. See missing.lua.
func (m Model) release(v *Server, client, token int8) {
	s := &v.Slot
	switch {
	case s.Record && s.Holder == client+1:
		s.Holder, s.Lease, s.Over[client] = 0, 0, true
	case !s.Record:
		if s.Evicted != v.Evicted && !m.without(Evicted) {
			s.Guard = false
		}
		if !m.hides(v, Missing) {
			s.Record, s.Seen, s.Over[client] = true, token, true
		}
	}
}
