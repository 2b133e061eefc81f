// Package interop runs Holdfast beside real clients of other libraries, each as a process of its own, on real servers.
//
//	python/          redis-py, redlock-py and pottery as peers: processes with the verbs try, lock and unlock
//	node/            node-redlock 4 and 5 as peers, and RedlockSemaphore of redis-semaphore
//	rust/            rslock as a peer
//	spring/          Spring Integration's RedisLockRegistry and ShedLock as peers
//	clients_test.go  redsync, redislock, rueidislock, StackExchange's commands and Holdfast as peers, by the test binary
//	remote_test.go   starts a peer and talks to it
//	libraries_test.go  the same tests for each library
//	languages_test.go  the programs of docs/guide/languages.md, which hold a lock by holdfast hold
//	facts_test.go    what some libraries do that surprises their users
//	redisson/        the Java side of Redisson's locks, driven by lines (needs a JDK 17 and Maven): Peer for all kinds
//	                 of locks, Shared for RReadWriteLock and RPermitExpirableSemaphore in shifts
//	shift_test.go    peers that take one shared lock again and again, and the judges of what they had
//	ours_test.go     Holdfast as a peer of a shared lock
//	sharedrivals_test.go  promises that shared locks and semaphores of other libraries break, and Holdfast beside them
//	peer_test.go     starts the side of Redisson and talks to it
//	rwlock_test.go   every kind of Redisson's locks, of two versions, beside readers and writers of Go
//	wakes_test.go    who wakes whom; what frees no lease of another
//	monitor_test.go  every command that a server ran, by MONITOR: who waits, who was woken, how long that took
//	worker_test.go   the test binary as a worker process, for tests with kills
//
// make interop installs what is missing and runs the tests.
package interop
