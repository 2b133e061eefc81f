package explore

// Rule says which of a model's rules a step follows. Each model names its own.
type Rule uint8

// Step is one thing that happens: a rule and whom it concerns.
type Step struct {
	Rule Rule
	Who  int8 // the client or owner, from 0
	Node int8 // the node, from 0
	X, Y int8 // a stamp, an instant, another owner: what the rule needs
}

// Model is a finite system of states. S holds no pointers: it is its own key.
type Model[S comparable] interface {
	// Initial is where everything begins.
	Initial() S
	// Steps calls visit with every step that is possible in s, and the state it leads to.
	// A step that changes nothing may be left out.
	Steps(s S, visit func(Step, S))
	// Canonical returns one of the states that equal s but for the names of things that
	// are alike. Any choice is sound; always the same one for all of them visits fewest.
	Canonical(s S) S
	// Broken names the promise that a step breaks; "" if it keeps them all.
	Broken(before S, step Step, after S) string
	// Say puts a step in words.
	Say(before S, step Step, after S) string
}
