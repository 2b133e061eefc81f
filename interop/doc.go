// Package interop runs Holdfast beside real clients of other libraries, each as a process of its own, on real servers.
//
//	redisson/        the Java side: Redisson's locks, driven by lines (needs a JDK 17 and Maven)
//	peer_test.go     starts the Java side and talks to it
//	monitor_test.go  every command that a server ran, by MONITOR: who waits, who was woken, how long that took
//	worker_test.go   the test binary as a worker process, for tests with kills
//
// make interop installs what is missing and runs the tests.
package interop
