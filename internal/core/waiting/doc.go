// Package waiting gets a lock, either by one attempt, or by a wait in a line until the context ends. Package bid
// contains the rules of one bid, without input and output. This package adds the goroutines, mutexes, timers and
// messages.
//
//	bidder.go    runs one bid: passes events to its machine, and sends what the machine decides
//	grant.go     a lease that was won
//	refusal.go   the reason of a failed attempt
//	locker.go    TryLock: a few attempts; and what all waits share
//	wait.go      Lock: the steps of one wait, from the line to the lease
//	all.go       several names in one attempt
//	line.go      the waiters of one name in this process; only the first of them asks the nodes
//	share.go     readers of this process that use one lease together
//	queue.go     the first waiter: it stays in the nodes' queues until it has a majority
//	outage.go    a time without a majority; all waiters of the name use what the first waiter learned
//	inbox.go     hand-offs: brings them from the nodes to the waiters
//	decline.go   hand-offs to bids that have ended
//	recall.go    adds the known quarantines to a refusal
//	gap.go       a time in which the name is free for clients of other libraries
package waiting
