package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Steady returns CLOCK_BOOTTIME: CLOCK_MONOTONIC plus the time spent suspended.
func Steady() Clock {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return Monotonic() // a sandbox that forbids the call
	}
	start := ts.Nano()
	mono := Monotonic()
	return func() Instant {
		var ts unix.Timespec
		if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
			return mono()
		}
		return Instant(time.Duration(ts.Nano() - start))
	}
}
