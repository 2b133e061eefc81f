// Package token models the possible grants in a world without clocks. It has three nodes, two or three attempts, and an
// adversary with full control of messages and time. It visits every reachable state, and checks the promises of
// docs/design/protocol.md that need no clock.
//
//	state.go     owners, nodes, and the messages between them
//	config.go    the number of everything, and the rules that can be left out
//	node.go      the behaviour of a node: internal/core/nodescript/lua, a function for each script
//	owner.go     the behaviour of an owner: internal/core/waiting, internal/core/renewal, internal/core/quorum
//	given.go     leases that a release gives to a waiter
//	steps.go     all possible next steps
//	promises.go  states that must never occur
//	symmetry.go  states that differ only by names are one
//	words.go     a step in the words of a trace
//
// scripts_test.go runs every call on every record, both here and by internal/nodemodel, the executable specification of
// the scripts. It does so with and without waiters. Both must agree on the answer and on the stored record, also if an
// acquire or a release hands the name on. It does not compare a loss of memory, which this model contains only by its
// effect: see below. The scripts have no given leases yet, so no test compares these.
//
// # What is modelled
//
// The model contains these rules:
//
//   - acquire.lua: the answer to a repeated command, the token rule, expired records, and a pass (from).
//   - extend.lua: the renewal and the repair rule, also on a claim.
//   - release.lua: the highest stamp that it covers, the tombstone, and its lower and upper bounds.
//   - handoff.lua: claims.
//   - A given lease: a release carries a stamp for the next owner, and the node grants it to a waiter. See given.go.
//   - A node that loses its memory, or finds an older record.
//   - Attempts that draw a higher stamp for another round, give back a partial grant and continue, pass their lease, and
//     renew it any number of times.
//
// # What the adversary can do
//
// A message that was sent stays in the network. A node may execute it at any later moment, again and again, in any
// order with others, or never. A reply may take any time. A record expires at any moment, also while its owner relies
// on it. So this model cannot say which owners rely on a lease at one time: the clock model does. A node may hand a
// free name to any owner that ever asked. Two owners may draw the same stamp. With Wipes a node loses its memory at any
// moment. A node may give a lease to any owner that ever asked, and its message arrives at any moment, again and again,
// or never.
//
// # What is left out
//
// The model does not contain these parts of the protocol:
//
//   - Clocks. The adversary decides about the window and the expiry, so a renewal may come as late as it likes. The
//     quarantine is modelled by its effect. When the node votes again, two kinds of messages are too late: acquires with
//     earlier stamps, because of the window, and extends that were sent earlier, because their owner's deadline has
//     passed. (The quarantine takes MaxTTL + W. The clock model has such extends.)
//   - The plain key and foreign locks.
//   - The order of the queue.
//   - leave.lua, which ends a lease as a release does but keeps the name.
//   - The fact that Redis forgets a record two hours later.
//   - The rule that a majority without the lease ends it. The promises here do not need this rule. The owner of the
//     model works without it, which gives the adversary more freedom.
//
// # How to read a trace
//
// "go test -v" prints one trace for each rule that is left out: the shortest way to a broken promise. A, B and C are
// owners; 1, 2 and 3 are nodes; stamps and tokens are small numbers. Each line is one step. The brackets contain the
// earlier record of the node.
package token
