// Package bids explores bids without goroutines. One seeded loop runs several machines of package bid against modelled
// nodes. Messages are delayed, reordered, lost and repeated. A world takes less than a millisecond, so many more
// interleavings are seen than by package sim, which runs whole clients.
//
//	world.go      one world: its time, its agenda and its end
//	network.go    messages between clients and nodes
//	server.go     the nodes
//	client.go     a client: it carries out the actions of its bids, and hears hand-offs
//	waiter.go     a wait for the lock: bids, a lease, and its release or pass
//	promises.go   the promises that each world must keep
//
// The loop replaces packages waiting and fanout. It does the same with less: there are no renewals, no admission, and
// no foreign locks.
//
// In half of the worlds half of the waiters are readers. Readers of one client wait in one line, and do not share a
// lease.
package bids
