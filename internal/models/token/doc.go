// Package token is a model of who may be granted what, in a world without clocks: three
// nodes, two or three bids, and an adversary that may do anything with messages and time.
// It visits every state that can come about, and checks the promises that
// docs/protocol.md makes without any clock.
//
//	state.go     owners, nodes, and what is between them
//	config.go    how much there is of everything, and the rules that can be left out
//	node.go      what one node does: internal/nodescript/lua, a function for each script
//	owner.go     what an owner does: internal/waiting, internal/renewal, internal/quorum
//	steps.go     everything that can happen next
//	promises.go  what must never be
//	symmetry.go  states that differ only by names are one
//	words.go     a step, as a trace tells it
//
// scripts_test.go runs every call on every record both here and by internal/nodemodel, the
// scripts' executable specification, while nobody waits for the name and while somebody does: the two agree on the
// answer and on what is stored, also where an acquire or a release hands the name on. What a loss of
// memory comes to is not compared: here it is an effect, see below.
//
// # What is modelled
//
// acquire.lua: the answer to a repeated command, the token rule, expired records, a pass
// (from); extend.lua: prolonging and the repair rule, also on a claim; release.lua: the
// highest stamp it covers, the tombstone and its lower and upper bounds; handoff.lua:
// claims; a node that loses its memory. Bids draw a higher stamp for another round, give a
// part back and bid on, pass their lease, renew it any number of times.
//
// # What the adversary can do
//
// A message that was sent stays in the network. A node may carry it out at any later
// moment, again and again, in any order with others, or never. A reply may take any
// time. A record expires whenever the adversary likes, also while its owner believes in it,
// so nothing here can say who believes at one time: that is the clock model's. A node may
// hand a free name to anybody that ever asked. Two owners may draw the same stamp.
// With Wipes a node loses its memory at any moment.
//
// # What is left out
//
// Clocks: the window and the expiry are the adversary's. What the quarantine
// comes to is modelled by its effect: when the node votes again, acquires with stamps that
// anybody drew before, and extends that were sent before, are too late for its window.
// (It takes MaxTTL + W; no right stamp is off by as much.) The plain key and foreign locks; the queue's
// order; leave.lua, which ends a lease as a release does but keeps the name; that Redis forgets
// a record two hours after. The rule that a majority that had forgotten the lease ends it is not
// needed for what is checked here: the model's owner does without, which gives the
// adversary more.
//
// # How to read a trace
//
// "go test -v" prints one for each rule that is left out: the shortest way to a broken promise.
// A, B and C are owners, 1, 2 and 3 nodes, stamps and tokens small numbers. Each line is one
// step; in brackets stands what the node's record said before.
package token
