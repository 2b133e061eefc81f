// Package register keeps the value of a lock while a lease is held. The scripts load and store run on the nodes, and
// package quorum decides what their answers mean. This package sends the calls, and stores what the holder knows about
// the value:
//
//	register.go  the register of a lease: load and store
//	bring.go     renewals bring the value to nodes that lack it
//	ask.go       one call to all nodes, and its answers
//
// A lease that never uses the value has no Register, and so no cost.
package register
