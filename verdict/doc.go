// Package verdict has the answers of nodes, in codes for programs and in words for people: what a node said to an
// attempt, about a lock, or about itself, and what the answers of all nodes say together. The errors of package
// holdfast contain such answers.
//
//	var unavailable *holdfast.UnavailableError
//	if errors.As(err, &unavailable) {
//		for _, n := range unavailable.Nodes {
//			log.Print(n.Node, n.Reason, n.Cause) // codes for programs
//			log.Print(n.Said())                  // words for people
//		}
//	}
//
// [Judge] says what the answers of all nodes about one lock say together, as Status of a client does, and [Hint] what
// a person can do. docs/guide/troubleshooting.md explains the answers.
package verdict
