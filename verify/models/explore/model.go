package explore

// Rule is the rule of a model that a step follows. Each model has its own rules.
type Rule uint8

// Step is one event: a rule and its parameters.
type Step struct {
	Rule Rule
	Who  int8 // the client or owner, from 0
	Node int8 // the node, from 0
	X, Y int8 // a stamp, an instant, or another owner, depending on the rule
}

// Model is a finite system of states. S contains no pointers: it is its own key.
type Model[S comparable] interface {
	// Initial returns the first state.
	Initial() S
	// Steps calls visit with every possible step in s and the resulting state. A step that changes nothing may be left
	// out.
	Steps(s S, visit func(Step, S))
	// Canonical returns one of the states that equal s except for the names of equal things. Run is right with any
	// choice. It visits the fewest states if Canonical makes the same choice for all equal states.
	Canonical(s S) S
	// Broken returns the promise that a step breaks, "" if it keeps them all.
	Broken(before S, step Step, after S) string
	// Say returns a step in words.
	Say(before S, step Step, after S) string
}
