// Package values runs whole clients that load and store the value of a lock, in virtual time, on modelled nodes. It
// checks the promise of [holdfast.Lease.Load]: a stored value is found, and a value that was seen is never unseen.
//
// Messages are lost, late or cut off. Nodes lose their memory, come back with old data, or evict the value. One clock
// of three is wrong at times. Holders end without a release, or stop for longer than their lease. No majority loses its
// memory between two uses: that is what the promise assumes.
//
// A seed decides the faults, but not the order in which goroutines run: a world need not repeat exactly.
//
//	world.go    one world: its nodes and clients
//	nemesis.go  its faults
//	link.go     a client's view of a node
//	judge.go    what holders stored and saw, and which values may be seen next
package values
