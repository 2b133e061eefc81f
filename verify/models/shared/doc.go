// Package shared models readers beside writers: a lock that several may hold together, or one alone. It has three
// nodes, two or three attempts, and an adversary with full control of messages and time. It visits every reachable
// state.
//
//	state.go     owners, nodes, and the messages between them
//	config.go    the number of everything, and the rules that can be left out
//	writers.go   the scripts for writers, where readers change something
//	readers.go   the scripts for readers
//	owner.go     the behaviour of an owner: internal/core/waiting, internal/core/renewal, internal/core/quorum
//	steps.go     all possible next steps
//	promises.go  states that must never occur
//	symmetry.go  states that differ only by names are one
//	words.go     a step in the words of a trace
//
// The rules between writers are those of package token, which leaves them out one by one. This package leaves out the
// rules that readers need. scripts_test.go compares this package's node with the scripts.
//
// # What the adversary can do
//
// As in package token, a message stays in the network, and a node may execute it at any later moment, again and again.
// There are two kinds of configurations:
//
//   - Without Timely a grant expires at any moment, also while its owner relies on it. Tokens, repairs and releases must
//     be right even then.
//   - With Timely a grant expires on a node only after its owner stopped to rely on it. Clocks and margins have this
//     effect: see package clock. Then no writer may rely on the lock beside anybody.
//
// So the model has every late renewal. Only a loss of memory makes renewals void that were sent before it: see package
// clock.
//
// A renewal has a stamp here, and not only a token. A release names the highest stamp of its owner. So seen is the
// tombstone of readers too: a late acquire or a late repair has a stamp below it.
//
// # What is left out
//
// The model leaves out the same parts of the protocol as package token, and the order of the queue. A renewal whose
// release came while the node's clock was far behind may be repaired: the tombstone has a limit then. This blocks
// writers on that node until the grant expires.
package shared
