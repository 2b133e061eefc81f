// Package quorum is the core of the protocol: it decides what the answers of several nodes mean together. It does no
// I/O, reads no clock and starts no goroutine. Its input is events (an answer, an instant), and its output is
// decisions. So a loop with a seed can drive it in a simulation, and goroutines and sockets can drive it in production.
//
//	validity.go    majority and validity: the arithmetic of the promises
//	correction.go  the clock correction and the stamps: the client's clock corrected to the nodes' clocks (Timebase)
//	unsettled.go   the reason why no stamp can be drawn
//	attempt.go     one attempt to acquire: rounds, votes, what to release
//	renewal.go     one renewal of a lease: extended, lost, or unknown
//	standing.go    one node: its right to vote, and the next step to get its vote
//	backoff.go     for how long a client believes a refusal before it asks the node again
package quorum
