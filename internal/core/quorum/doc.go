// Package quorum decides what the answers of several nodes mean together. It has no input or output, reads no clock
// and starts no goroutines. Its methods receive events, such as an answer at an instant, and return decisions. So the
// same code runs in production, with goroutines and connections, and in a simulation, with a loop and a seed.
//
//	validity.go    the size of a majority, and the time for which a lease is valid
//	timebase.go    the client's steady clock, corrected to the clocks of the nodes (Timebase)
//	stamp.go       draws stamps from it
//	unsettled.go   the reason why no stamp can be drawn
//	attempt.go     one attempt to acquire: its rounds and votes
//	renewal.go     one renewal of a lease: extended, lost, or unknown
//	register.go    one load or store of the value of a lock
//	standing.go    one node: whether it votes, and the next step to get its vote
//	refused.go     how long a client believes a refusal before it asks the node again
package quorum
