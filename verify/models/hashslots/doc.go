// Package hashslots models the admission of a hash slot of a Redis Cluster: which clients rely on a name of the slot
// while the slot moves from shard to shard, and servers forget, restart and are replaced. It checks that no two clients
// rely on the name at the same time, that tokens grow, and that the slot votes again if nothing more happens. See
// docs/design/proofs.md, Hash slots.
//
// It has two or three shards, a replica of some of them, two clients, one name, and time in whole ticks.
//
//	config.go    the rules, the times, and what may happen how often
//	state.go     the servers, their copies of the slot, and the clients
//	steps.go     what clients do
//	world.go     moves, failovers, restarts and other faults
//	admit.go     what scripts do on a server: admit, acquire, extend
//	promises.go  the promises
//	words.go     the steps in words
//
// # The world
//
// A move is one step, with all keys of the slot. A slot may also be given away by force, without its keys. The former
// master hears of it at any later time, or never, and keeps believing that it has the slot until then. A replica gets
// the writes of its master at any later time, all at once, or never. Its promotion leaves the former master alive. That
// one comes back as a replica, with its old data at first. A server saves its data at any time, and restarts with the
// data that it saved, or empty. A record is evicted. A clock leaps ahead and back, which deletes the record and the
// guard. An hour passes without use. Acquires and renewals come late. A client asks the majority, takes a proof, and
// asks for an adoption at any time, also repeatedly.
//
// # Rules that are not in the scripts
//
// The model breaks without these four rules, and the code does not have them. AsBuilt lists them.
//
//   - Settled. A server adopts a slot only if it has been the master for the length of a quarantine, since its start
//     and since its promotion. Otherwise it may have adopted this slot before, granted the name, and lost both writes. Then
//     the guard is that of the source again, and the source still gives a proof.
//   - GuardData. A guard counts only for the replication id under which it was written. A former master that becomes a
//     replica and then the master again has a guard with its own run id, and the data of the server that was the master
//     meanwhile. No client asks such a slot for admission, because its guard is there.
//   - Reading. The time of a proof is not later than the reading of the clock. If half of a round trip is added, the
//     clocks may be further apart by that, and the rest of a quarantine may be too short by that.
//   - NoneHere. A server that has evicted keys since its start adopts nothing. It may have evicted a record of the slot
//     after the move.
//
// # What is left out
//
// Challenges and vouchers (the package clock has them), moves key by key, queues, values, durable nodes, clocks that
// differ in other ways than one clock that is ahead, the count of a majority (the package failovers has it), and a
// comparison with the scripts.
package hashslots
