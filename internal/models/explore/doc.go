// Package explore visits every state that a small model of the protocol can reach, and
// tells by what steps it comes to one in which a promise is broken.
//
//	model.go    what a model is: a first state, the steps, the promises
//	run.go      breadth first over all states, so that the first trace found is a shortest one
//	visited.go  the states met so far: exact, not by hash alone
//	trace.go    the steps to a state, in words
//	verdict.go  what the tests of the models say, and the table they print
//
// A model is searched to the end: "holds" means in every reachable state of that
// configuration, and says nothing about larger ones. States that differ only by the names
// of equal nodes or clients may be visited once for all of them: see Model.Canonical.
package explore
