//go:build !linux

package clock

// Steady returns the monotonic clock: outside Linux a host's suspension is not seen.
func Steady() Clock { return Monotonic() }
