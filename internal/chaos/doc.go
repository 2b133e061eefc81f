// Package chaos runs a lock under faults, with real processes, and judges what they did.
//
// Five redis-servers stand behind proxies. Twenty processes and more lock a few names, change what the
// lock protects, and say when they began and ceased to believe that they hold it. A nemesis
// meanwhile kills, freezes, flushes, rolls back, replaces and partitions servers, moves their
// clocks, delays, doubles and reorders single commands, and kills and freezes the processes.
// Afterwards the history is judged: no two may have believed in one lock at the same time,
// tokens must grow, no write that was acknowledged and fenced may be missing, a process that ran must have been told of
// a loss before another could have the lock, nobody may starve while a majority is well, and nothing may be left
// behind: no lease of a client whose attempts were cut short, while it would still last, and no place in a queue.
// What did not happen proves nothing: in a run that is long enough each kind of fault must have taken effect.
//
//	go test -count=1 -v -timeout 0 -run TestChaos ./internal/chaos -chaos.for 10m
//
// Any lock can take part, see [Locker]: what finds nothing in other locks proves nothing
// about this one. bench/ runs other libraries through it.
//
// Time is CLOCK_MONOTONIC, which is the same for all processes of a machine. It is for Linux.
package chaos
