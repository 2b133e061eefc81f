// Package crowd runs whole clients that share a semaphore, in virtual time, on modelled nodes. Messages are late or
// lost, clients are cut off, nodes lose their memory. It checks that a slot has one holder at a time, and that the
// tokens of a slot grow. After the end of the faults it checks that all slots can be taken.
//
// Package crowd is small beside package sim, which runs clients that share locks. A seed decides the faults, but not
// the order in which goroutines run: a world need not repeat exactly.
//
//	world.go    one world: its nodes, clients and faults
//	link.go     a client's view of a node
//	witness.go  the holders, as they see themselves
package crowd
