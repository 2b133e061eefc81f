// Package register keeps a value under a lock. Package quorum decides what the answers mean; the scripts load and store
// run on the nodes. This package sends the calls, and remembers what the holder knows:
//
//	register.go  the register of a lease: load and store
//	bring.go     renewals bring the value to nodes that lack it
//	ask.go       one call to all nodes, and its answers
//
// A lease that never uses its register has none, and costs nothing.
package register
