package clock

import "time"

// Host returns the host's own clock, which processes of one host can compare. It is CLOCK_BOOTTIME: it goes on while
// the host is suspended, and it never steps. In a sandbox that forbids the call, it is the wall clock.
func Host() Instant {
	if ns, ok := boottime(); ok {
		return Instant(ns)
	}
	return Instant(time.Now().UnixNano())
}
