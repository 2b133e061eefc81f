// Package waiting gets a lock: one attempt, or a place in line until the context ends.
//
//	bid.go       one owner's try: questions to the nodes and their answers, hand-offs
//	pass.go      a lease that goes from one owner of this process to the next
//	grant.go     how a bid ends, won or given up, and what it gives back
//	part.go      a minority: kept, or given back to who has waited for longer
//	nodes.go     a set of nodes
//	spare.go     nodes that are left alone for a while, so that a lease comes back to them
//	refusal.go   why an attempt failed, and what that means for the next
//	locker.go    TryLock and Lock: attempts, then the line
//	line.go      the waiters of one name in this process: only the first asks the nodes
//	outage.go    and what it finds of an outage counts for all of them
//	inbox.go     hand-offs from the nodes to the waiters they are for
//	decline.go   and those for bids that are over
//	turn.go      the first in line: in the nodes' queues, until a majority is its own
package waiting
