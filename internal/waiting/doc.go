// Package waiting gets a lock: one attempt, or attempts until the context ends.
//
//	attempt.go   one attempt: a message to all nodes, restamped if they saw a later token
//	refusal.go   why an attempt failed, and what that means for the next
//	locker.go    attempts in a row: Redlock's retry after a random delay
//
// The wait between two attempts is the one place that a queue with hand-off replaces.
package waiting
