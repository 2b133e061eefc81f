// Package e2e tests whole clients of package holdfast against real redis-server processes, which the tests kill, freeze
// and cut off. It contains only tests.
//
//	kit_test.go        node sets of real servers, their clients, and checks of the stored keys
//	network_test.go    a proxy before each node, and the two drivers
//	processes_test.go  clients in their own processes
//	stalls_test.go     how late the machine runs this process; tests with time limits allow for it
//
// Each other file is named after the behaviour that it tests.
package e2e
