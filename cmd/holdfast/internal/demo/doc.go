// Package demo shows that the lock works while processes are killed and frozen.
//
// It starts five node processes and eight worker processes, which all run this program. Each worker reads a number
// from one file, adds one, and writes the number back. In the first half the workers use no lock, and increments get
// lost. In the second half they use the lock. Meanwhile nodes are killed and restarted without their data, a holder is
// killed, and another holder is frozen for longer than its lease. At the end, a verdict compares the recorded events
// with the promises.
//
//	demo.go       the two halves, one after the other
//	plot.go       the faults, and their times
//	cast.go       the processes
//	node.go       a node process
//	worker.go     a worker process
//	store.go      the file; it refuses old fencing tokens
//	journal.go    the workers' own record of the time that each was inside
//	verdict.go    the comparison of journal and file with the promises
//	watch.go      the state of the nodes
//	state.go      the present state, for people
//	live.go       the view on a terminal
//	plain.go      the view elsewhere
//	platform.go   the clock, and stopped processes; platform_other.go: without them
package demo
