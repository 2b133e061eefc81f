// Package locks finds the order in which goroutines take the mutexes of the library, and compares it with the order in
// docs/ARCHITECTURE.md. Two goroutines that take two mutexes in different orders can wait for each other for ever.
//
// The test builds the library with other mutexes in the place of those of package sync, by the flag -overlay of the go
// command. They record for each goroutine which mutexes it holds when it takes another one.
package locks
