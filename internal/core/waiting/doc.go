// Package waiting gets a lock: by one attempt, or by a wait in a line until the context ends. Package bid decides what
// one bid does. This package contains the parts that package bid does not have: goroutines, mutexes, timers and
// messages.
//
//	bidder.go    carries out one bid: events to its machine, actions to the nodes
//	grant.go     a lease that was won
//	refusal.go   the reason of a failed attempt
//	locker.go    TryLock and Lock: attempts, then the line
//	all.go       several names in one attempt
//	line.go      the waiters of one name in this process: only the first of them asks the nodes
//	turn.go      the first waiter: it stays in the nodes' queues until it has a majority
//	outage.go    an outage: the first waiter's findings count for all waiters of the name
//	inbox.go     hand-offs: from the nodes to the waiters
//	decline.go   hand-offs to bids that are over
//	recall.go    quarantines of nodes that did not answer the last question
//	gap.go       a time in which the name is free for clients of other libraries
package waiting
