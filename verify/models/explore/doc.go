// Package explore visits every state that a small model of the protocol can reach. It reports the steps to a state that
// breaks a promise.
//
//	model.go    the parts of a model: a first state, the steps, the promises
//	run.go      breadth first over all states, so that the first trace found is a shortest one
//	visited.go  the states met so far: exact, not by hash alone
//	trace.go    the steps to a state, in words
//	verdict.go  the messages of the models' tests, and the table that they print
//
// A model is searched completely. "holds" means in every reachable state of that configuration, and says nothing about
// larger ones. States that differ only by the names of equal nodes or clients may be visited once: see Model.Canonical.
package explore
