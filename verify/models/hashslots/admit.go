package hashslots

// guarded reports whether the scripts of a server find their guard.
func (m Model) guarded(v *Server) bool {
	return v.Slot.Guard && (v.Slot.Run == v.Run || m.without(GuardRun)) && (v.Slot.Data == v.Data || m.without(GuardData) || m.without(GuardRun))
}

// ready does the same as the function in admit.lua.
func (m Model) ready(v *Server) {
	s := &v.Slot
	s.Phase, s.Quiet, s.Guard, s.Kept, s.Idle, s.Torn = Votes, 0, true, true, false, false
	s.Run, s.Data, s.Evicted = v.Run, v.Data, v.Evicted
}

// lost does the same as the function in quarantine.lua. The records stay.
func (m Model) lost(v *Server) {
	s := &v.Slot
	s.Phase, s.Quiet, s.Guard, s.Idle, s.Torn = Asks, 0, false, false, false
	s.Run, s.Data, s.Evicted = v.Run, v.Data, v.Evicted
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
	apart := m.clock(server) - p.Clock + p.Age - early
	return p.Run != 0 &&
		(p.Run == s.Run || m.without(ProofRun)) &&
		(p.Data == s.Data || !p.Copied || m.without(SameData)) &&
		(p.Evicted == s.Evicted || m.without(SameEvicted)) &&
		(v.Evicted == 0 || m.without(NoneHere)) &&
		(v.Second != p.Data && v.Second != s.Data || m.without(NotReplica)) &&
		(v.Reign >= m.quarantine() || m.without(Settled)) &&
		(apart <= m.apart() && apart >= -m.apart() || m.without(SameClock))
}

// admit asks a server to admit the slot, with a proof or without one. It does the same as admit.lua with the parts
// quarantine and adopt.
func (m Model) admit(server int8, v *Server, p Proof, early int8) {
	s := &v.Slot
	copied := s.Data != v.Data && v.Second != 0
	if m.foreign(v) && m.fits(server, v, p, early) {
		if s.Phase == Votes {
			m.ready(v)
			return
		}
		s.Guard, s.Run, s.Data, s.Evicted, s.Torn, copied = false, v.Run, v.Data, v.Evicted, false, false
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

// grant runs an acquire whose stamp has an age. It reports whether the client has the lease.
func (m Model) grant(v *Server, client, age int8) bool {
	s := &v.Slot
	if !m.vote(v) || s.Lease > 0 || s.Record && age > s.Seen {
		return false
	}
	s.Record, s.Holder, s.Lease, s.Seen = true, client+1, m.TTL-age, min(age, m.Window+1)
	return true
}

// extend runs a renewal whose stamp has an age. It reports whether the server had the lease.
func (m Model) extend(v *Server, client, age int8) (had, voted bool) {
	if age >= m.TTL || !m.vote(v) {
		return false, false
	}
	s := &v.Slot
	if s.Holder != client+1 {
		return false, true
	}
	s.Lease = max(s.Lease, m.TTL-age)
	return true, true
}
