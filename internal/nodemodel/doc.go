// Package nodemodel is the executable specification of one node: what a Redis
// server with Holdfast's scripts does, said in plain Go. It is written from
// docs/protocol.md, not from the Lua, so that the two can disagree; a test runs
// both and compares every reply and every key after every operation.
//
//	node.go       a Node: its incarnation, its keys, the driver interface
//	store.go      keys that expire, by Redis's rule
//	lease.go      acquire, extend
//	release.go    release, leave, quit
//	queue.go      who waits, hand-offs, and who hears of them
//	admission.go  hello, admit, refresh, inspect
//	outside.go    what happens to a node: foreign commands, flushes, restarts
//
// A Node has no goroutine and no clock of its own, so that a seeded simulation can
// run whole clients against many of them.
package nodemodel
