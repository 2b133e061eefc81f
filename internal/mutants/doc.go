// Command mutants weakens Holdfast one line at a time and demands that a named test
// notices each: a promise whose mechanism can be taken away unseen is no promise.
//
//	make mutants
//	go run ./internal/mutants -run 'quarantine|guard'
//
// The list is data: see [mutant]. A changed file is laid over its original by go test
// -overlay, Lua files included, so the tree itself is never changed. Each check runs once
// as it is, and must pass; then with the weakening, and must fail within a minute, with
// the words that the mutant names: a check that fails for another reason shows nothing.
//
// HOW in the table it prints is "fails", or "bound" where the weakened lock waits for ever
// and the check's own bound ends it. What does not compile, what the check has no bound for,
// and a failure in other words kill nothing.
//
// With -sim the mistakes are others, and nothing is named that should notice: the simulation of
// internal/sim is to find each by itself, and the table says after how many attempts it did.
//
//	make sim-mutants
//
// Checks show the broken promise itself, on real redis-servers or in the core without I/O,
// wherever there is one that does. Where only the comparison with the model of a node sees
// a weakening, its check is in internal/nodemodel.
package main
