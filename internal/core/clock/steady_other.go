//go:build !linux

package clock

// Steady returns the monotonic clock. Outside Linux, Holdfast does not notice a suspension of the host.
func Steady() Clock { return Monotonic() }
