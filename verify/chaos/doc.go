// Package chaos runs a lock under faults, with real processes, and judges the result.
//
// Five redis-servers run behind proxies. Twenty or more processes lock a few names and change the data under the lock.
// They report when they begin and cease to rely on the lock. At the same time a nemesis kills, freezes, flushes, rolls
// back, replaces and partitions servers. It moves their clocks, and delays, doubles and reorders single commands. It
// also kills and freezes the processes. After a long run, one process of another run has
// 200 goroutines that compute during its leases.
//
// Afterwards the judges check the history:
//
//   - No two clients may have relied on one lock at the same time.
//   - Tokens must grow.
//   - No acknowledged and fenced write may be missing.
//   - A running process must have learned of a loss before another process could get the lock.
//   - No client may starve while a majority is well.
//   - No client may leave anything behind: no place in a queue, and no lease of an attempt that was cut short. The
//     check comes while such a lease would still last.
//
// A run in which a fault had no effect proves nothing about that fault. So in a run that is long enough, each kind of
// fault must have had an effect.
//
//	go test -count=1 -v -timeout 0 -run TestChaos ./verify/chaos -chaos.for 10m
//
// Any lock can take part: see [Locker]. If the faults find nothing in other locks, they prove nothing about Holdfast.
// verify/bench runs other libraries through this package.
//
// Times are CLOCK_MONOTONIC, which is the same for all processes of a machine. The package is for Linux.
package chaos
