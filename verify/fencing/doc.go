// Package fencing checks package fence with holders that are paused between their check and their write.
//
// A holder is a process. It gets a real lock, reads a number, checks its lease, and reports that. Now it is stopped
// (SIGSTOP) until its lease has expired. Another holder gets the lock, adds one and writes. Then the first holder goes
// on: it does what it would have done at once, and writes its own number plus one.
//
//	holder.go    the holder process
//	process.go   that process from outside: it is stopped and continued
//	workload.go  the rounds, and the counts of what was lost
//	http.go      an object store over HTTP, so that several processes can use one
//
// A store of package fence must refuse each such write. The same workload with one token for all holders has no fence:
// only the `if` of the holder is left. It must lose updates, otherwise the workload would show nothing.
//
// The package verify/sql runs the same workload on databases.
package fencing
