package clock

import "time"

// Host reads a clock that all processes on this host share, so that they can compare its instants. It is
// CLOCK_BOOTTIME, which runs while the host is suspended and never jumps. In a sandbox that forbids the system call,
// it is the wall clock.
func Host() Instant {
	if ns, ok := boottime(); ok {
		return Instant(ns)
	}
	return Instant(time.Now().UnixNano())
}
