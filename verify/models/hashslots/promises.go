package hashslots

import "github.com/holdfast-go/holdfast/verify/models/explore"

// These are the promises.
const (
	OneHolder  = "two holders"
	TokensGrow = "the token is lower than an earlier one"
	VotesAgain = "the slot does not vote again"
)

// Broken implements [explore.Model].
func (m Model) Broken(before State, step explore.Step, after State) string {
	asks := func(promise string) bool { return m.Ask == "" || m.Ask == promise }
	c := step.Who
	switch {
	case asks(OneHolder) && after.Clients[0].Relies > 0 && after.Clients[1].Relies > 0:
		return OneHolder
	case asks(TokensGrow) && before.Clients[c].Relies == 0 && after.Clients[c].Relies > 0 && after.Last > before.Last:
		return TokensGrow
	case asks(VotesAgain) && goesOn(step.Rule) && m.stuck(after):
		return VotesAgain
	}
	return ""
}

// goesOn reports whether a step may change how the admission goes on.
func goesOn(step explore.Rule) bool {
	switch step {
	case asks, proves, ticks, copies, saves:
		return false
	}
	return true
}

// stuck reports whether the slot does not vote although nothing happens any more, except what clients do that want the
// name: they ask the majority, look for a proof, and ask for admission.
func (m Model) stuck(s State) bool {
	v := &s.Servers[s.Owner]
	for range 3*m.quarantine() + m.TTL {
		if m.grants(v) {
			return false
		}
		s = m.later(s)
		for range 4 {
			if !m.vote(v) {
				m.admit(s.Owner, v, m.found(&s), 0)
			}
		}
	}
	return true
}

// found returns the proof that a client finds.
func (m Model) found(s *State) Proof {
	for i := range m.servers() {
		p := &s.Servers[i]
		if p.Of < 0 && p.Named && i != s.Owner && p.Run == s.Servers[s.Owner].Slot.Run {
			return m.proof(s, i)
		}
	}
	return Proof{}
}
