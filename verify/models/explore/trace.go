package explore

// trace returns the steps from the first state to state number last, and one more step, which breaks a promise. It also
// returns that promise, in the names of the trace.
//
// The states are stored in canonical form, in which names change from step to step. So trace walks the way again from
// the first state, by steps that lead to the same canonical states. The names then stay the same.
func trace[S comparable](m Model[S], v *visited[S], last int, broken Step) (said []string, promise string) {
	var way []int
	for i := last; i > 0; i = v.parent(i) {
		way = append(way, i)
	}
	s := m.Initial()
	for i := len(way) - 1; i >= 0; i-- {
		want, found := *v.at(way[i]), false
		before := s
		m.Steps(before, func(step Step, after S) {
			if !found && m.Canonical(after) == want {
				said = append(said, m.Say(before, step, after))
				s, found = after, true
			}
		})
		if !found {
			panic("explore: a state is not reached from its parent: Steps or Canonical depends on names")
		}
	}
	// The search found the last step from the canonical form of s, so the step may have other names here. Any step by
	// the same rule that breaks a promise can replace it.
	m.Steps(s, func(step Step, after S) {
		if promise == "" && step.Rule == broken.Rule {
			if promise = m.Broken(s, step, after); promise != "" {
				said = append(said, m.Say(s, step, after))
			}
		}
	})
	return said, promise
}
