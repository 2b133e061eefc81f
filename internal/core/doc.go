// Package core contains the engine of the lock. The public package holdfast uses it. Package core imports no Redis
// client: package node defines the interface of a driver.
//
// From the bottom up:
//
//	clock        a steady clock that also counts the time of a suspension
//	environment  a client's clock and random numbers; a simulation supplies its own
//	printable    makes text from nodes safe for terminals and logs
//	ending       errors of waits that a context ended
//	async        functions that may block, away from goroutines with deadlines
//	nodescript   one node: keys, records, Lua scripts, their calls and answers
//	rights       the rights that users of a server need, by role
//	quorum       several nodes: what their answers mean together. No I/O
//	bid          one attempt to get a name: its questions, the meaning of answers, and the grants that it gives back. No I/O
//	kind         the calls of a kind of lock, for the packages below. The kinds: exclusive, shared, slot
//	fanout       carries calls to all nodes: transport, admission, clocks
//	waiting      gets a lock: carries out bids; lines, hand-offs, passes
//	renewal      keeps a lock: renewals, deadlines, releases
//	register     keeps a value under a lock: loads, stores, and what renewals bring
//	embedded     a node inside this process, for tests, development and the demo
package core
