// Package quorum is the protocol's core: what answers of single nodes mean
// together. It does no I/O, reads no clock and starts no goroutine: events go in
// (an answer, an instant), decisions come out, so that one seeded loop can drive it
// in simulation as well as goroutines and sockets do in life.
//
//	rules.go     majority, validity: the arithmetic of the promises
//	timebase.go  stamps: the client's clock corrected to the nodes' clocks
//	attempt.go   one attempt to acquire: rounds, votes, what to undo
//	renewal.go   one renewal of a lease: extended, lost, or nothing known
//	standing.go  may this node vote, and what is to be asked of it next?
package quorum
