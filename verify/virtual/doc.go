// Package virtual tests whole clients of package holdfast beside modelled nodes in virtual time (testing/synctest). The
// tests need no server, and minutes of a client's life take little time of the processor. It contains only tests.
//
//	kit_test.go           modelled nodes that vote, and their clients
//	farnodes_test.go      nodes that need time for each message
//	movedaddress_test.go  addresses that lead to another server
//
// Each other file is named after the behaviour that it tests.
package virtual
