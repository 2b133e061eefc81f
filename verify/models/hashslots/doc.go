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
//	admit.go     what scripts do on a server: admit, acquire, extend, release
//	promises.go  the promises
//	words.go     the steps in words
//
// # The world
//
// A move is one step. It brings all keys of the slot; or the record stays behind, because an operator ends the move by
// force; or the target saves its data before the record comes. A slot may also be given away by force, without its keys. The former
// master hears of it at any later time, or never, and keeps believing that it has the slot until then. A replica gets
// the writes of its master at any later time, all at once, or never. Its promotion leaves the former master alive. That
// one comes back as a replica, with its old data at first. A server saves its data at any time, and restarts with the
// data that it saved, or empty. A record is evicted. A clock leaps ahead and back, which deletes the record and the
// guard. An hour passes without use. Acquires and renewals come late. A client asks the majority, takes a proof, and
// asks for an adoption at any time, also repeatedly.
//
// A waiter that gives up sends a release, which may be the first call for the name. A renewal may have a shorter TTL than the
// one before, and its answer may be lost. A master may clear its second replication id, and then has another first one.
//
// # Rules
//
// config.go lists the rules of the scripts and of the clients, with the file of each. The model has no rule that the code
// lacks. NotReplica, SameEvicted and Arrived follow from the others: see TestRulesOfHashSlotsThatOthersImply. The code has
// them because the model is smaller than the world.
//
// # What is left out
//
// Challenges and vouchers (the package clock has them), moves key by key other than above, queues, values, durable nodes, clocks that
// differ in other ways than that each is ahead of the one before, what a client knows of masters that it met before
// (admit may have a quarantine for that), a late renewal of a lease whose client has the name again, the count of a majority (the package failovers has it), and a
// comparison with the scripts.
package hashslots
