// Package nodemodel is the executable specification of one node: the behaviour of a Redis server with Holdfast's
// scripts, in plain Go. It is written from docs/design/protocol.md, not from the Lua, so that the two can disagree. A
// test runs both and compares every reply and every key after every operation.
//
//	node.go       a Node: its incarnation, its keys, the driver interface
//	store.go      keys that expire, by Redis's rule
//	lease.go      acquire, extend
//	shared.go     acquire, extend, release, leave for readers
//	readers.go    the entries of readers
//	slots.go      the slots of a semaphore
//	register.go   load, store: the value of a name
//	release.go    release, leave, quit
//	force.go      the release of an operator
//	queue.go      waiters, hand-offs, and their listeners
//	admission.go  hello, admit, refresh, inspect
//	adopt.go      the admission of a hash slot that came from another server
//	peers.go      reports of members
//	kit.go        what tests with modelled nodes need: a clock, masters, replies that failed
//	outside.go    events outside the protocol: foreign commands, flushes, restarts
//
// A Node has no goroutine and no clock of its own. So a seeded simulation can run whole clients against many nodes.
package nodemodel
