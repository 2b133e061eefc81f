// Package clock models which clients rely on the lock, and until when. It has three nodes with their own clocks, two or
// three clients, and time in units of W. It visits every reachable state up to its horizon. It checks that no two
// clients rely on the lock at the same time, and that tokens grow, also after a loss of memory.
//
//	state.go     clients, nodes, clocks
//	config.go    sizes, errors of the clocks, and the rules that can be left out
//	node.go      the behaviour of a node: internal/core/nodescript/lua, a function for each script
//	client.go    the behaviour of a client: internal/core/waiting, internal/core/renewal, internal/core/quorum
//	given.go     leases that a release gives to a waiter
//	steps.go     all possible next steps
//	promises.go  states that must never occur
//	symmetry.go  nodes that the adversary may treat alike are equal
//	words.go     a step in the words of a trace
//
// scripts_test.go runs every call on many small records, both here and by internal/nodemodel, the executable
// specification of the scripts. It does so with and without waiters. Both must agree on the answer and on the stored
// record, also if an acquire or a release hands the name on. admission_test.go does the same for a node from its loss
// of memory to its next vote. The scripts have no given leases yet, so no test compares these.
//
// # What is modelled
//
// The model contains these rules:
//
//   - The window of acquire.lua. extend.lua has only its upper bound: a renewal may be late until stamp + TTL.
//   - The excess: by how much a renewal was late. Its client stops earlier by this time.
//   - A downgrade: like a renewal, but only on nodes that have the lease.
//   - Expiry at stamp + TTL by the node's clock.
//   - The later of two expiries in extend.lua, its repair, and the deadline that the owner knew.
//   - release.lua, which needs neither guard nor window. Its tombstone is at most TIME + W if its stamp is more than 2 W
//     ahead.
//   - Claims.
//   - The quarantine of TTL + W in quarantine.lua. It begins and ends only with a stamp within W of the node's clock, drawn
//     after the node's challenge. It begins again if the clock went back.
//   - The voucher of trust.lua, which shortens the quarantine that it names.
//   - The client's deadline, counted from the sending, and renewals, each of which counts only before the old deadline.
//   - The pass to another client of the process.
//   - A given lease: a release carries a stamp for the next owner, and the node grants it to a waiter. Its deadline counts
//     from the waiter's questions: see given.go. TestAGivenLeaseAndItsQuestionAreOfOneMemory has a way that is too long
//     for a search.
//   - quorum.Timebase: the middle of the clocks that agree, and the wait before a move of more than W is adopted.
//
// # What the adversary can do
//
// It can delay, repeat, reorder and lose messages. A message can be executed in every later state that its node
// accepts. For admit, this applies to every request that could have been sent. It can make the clocks of one node
// (Minority) or of any node jump a few times, by at most Reach. It can delete the memory of a node. It can give clients
// wrong stamps (Lead) and nodes different clocks (Off), within the limits of the promise. It can give a renewal any
// other stamp (Stray), also outside of the limits: for instance, the client's own clock was stopped for a time. A reply
// may come at any later time.
//
// # What is left out
//
// The model does not contain these parts of the protocol:
//
//   - The part of the margin for clocks of different speed and for timers. Clients' steady clocks are right, and all
//     instants are whole units of W.
//   - Real TTLs. A TTL is 4 to 7 W here, although the library requires at least 8. A belief of a few W is enough for
//     every order of events, and the horizon exceeds two leases.
//   - The guard, the run id and the other ways in which a node finds a loss of memory. Here the node knows the loss.
//   - The plain key, the order of the queue, and leave.lua.
//
// # How to read a trace
//
// "go test -v" prints one trace for each rule that is left out: the shortest way to a broken promise. A, B and C are
// clients; 1, 2 and 3 are nodes. All instants, stamps and deadlines are counted from the start, in W. "at 3" is the
// true time. "clock 5" is the time by the node's clock.
//
// # What it cannot show
//
// Two rules can be left out without a broken promise here. The + W of the quarantine is within the margin of 4 W. A
// renewal whose stamp + TTL is over is so late that its yes moves no deadline.
//
// Without the tokens or the owner's deadline in a repair, a released lease comes back (NoGhost). Two holders would need
// more disorder than these clocks allow.
package clock
