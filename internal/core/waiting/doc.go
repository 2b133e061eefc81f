// Package waiting gets a lock: by one attempt, or by a wait in line until the context ends.
//
//	bid.go       one owner's attempt: questions to the nodes, their answers, hand-offs
//	pass.go      a pass: a lease moves from one owner of this process to the next
//	grant.go     the end of a bid: won or given up, and the release of its partial grant
//	part.go      a partial grant: kept, or given back to an older waiter
//	nodes.go     a set of nodes
//	spare.go     nodes that the bid leaves alone for a while, so that a lease can be repaired there
//	refusal.go   the reason of a failed attempt, and its meaning for the next attempt
//	locker.go    TryLock and Lock: attempts, then the line
//	line.go      the waiters of one name in this process: only the first of them asks the nodes
//	outage.go    an outage: the first waiter's findings count for all waiters of the name
//	inbox.go     hand-offs: from the nodes to the waiters
//	decline.go   hand-offs to bids that are over
//	turn.go      the first waiter: it stays in the nodes' queues until it has a majority
package waiting
