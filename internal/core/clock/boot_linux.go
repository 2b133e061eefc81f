package clock

import "time"

// SinceBoot returns the time since this machine booted, with the time for which it was suspended. It does not depend on
// the wall clock. ok is false if it is unknown.
func SinceBoot() (d time.Duration, ok bool) {
	ns, ok := boottime()
	return time.Duration(ns), ok
}
