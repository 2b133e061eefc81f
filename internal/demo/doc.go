// Package demo shows that the lock holds, with processes that really die.
//
// Five node processes and eight worker processes are started from the own program.
// Every worker reads a number from one file, adds one, and writes it back. First
// without a lock: increments get lost. Then under the lock, while nodes are killed and
// come back empty, a holder is killed, and another is frozen for longer than its lock
// lasts. At the end a verdict compares what happened with what was promised.
//
//	demo.go       the two halves, one after the other
//	plot.go       which faults, and when
//	cast.go       the processes
//	node.go       the life of a node process; worker.go that of a worker
//	store.go      the file; it refuses old fencing tokens
//	journal.go    who was inside when, written by the workers themselves
//	verdict.go    journal and file against the promises
//	state.go      what is going on, for people
//	live.go       … on a terminal; plain.go elsewhere
package demo
