package hashslots

import "github.com/holdfast-go/holdfast/verify/models/explore"

// Broken implements [explore.Model].
func (m Model) Broken(before State, step explore.Step, after State) string {
	if after.Clients[0].Relies > 0 && after.Clients[1].Relies > 0 {
		return "two holders"
	}
	if c := step.Who; (step.Rule == runs || step.Rule == sends) && before.Clients[c].Relies == 0 && after.Clients[c].Relies > 0 && after.Last > before.Last {
		return "the token is lower than an earlier one"
	}
	if m.stuck(after) {
		return "the slot does not vote again"
	}
	return ""
}

// stuck reports whether the slot does not vote although nothing happens any more, except what clients do that want the
// name: they ask the majority, look for a proof, and ask for admission.
func (m Model) stuck(s State) bool {
	v := &s.Servers[s.Owner]
	for range 2*m.quarantine() + m.TTL {
		if m.vote(v) && v.Slot.Lease == 0 {
			return false
		}
		s = m.later(s)
		for range 4 {
			if !m.vote(v) {
				m.admit(s.Owner, v, m.proof(&s), 0)
			}
		}
	}
	return true
}

// proof returns the proof that a client finds.
func (m Model) proof(s *State) Proof {
	for i := range m.servers() {
		p := &s.Servers[i]
		if p.Of < 0 && p.Named && i != s.Owner && p.Run == s.Servers[s.Owner].Slot.Run {
			return Proof{Run: p.Run, Data: p.Data, Evicted: p.Evicted, Copied: p.Second != 0, Clock: m.clock(i)}
		}
	}
	return Proof{}
}
