// Package clock contains the client's steady clock. A steady clock never jumps. If the platform allows it, this clock
// also runs while the host is suspended, because a lease expires even while a laptop is closed. Go's monotonic clock
// stops then.
package clock

import "time"

// Instant is a reading of a steady clock, in nanoseconds since an arbitrary start.
type Instant int64

// Lag is the longest time after a suspension of the host for which a [Steady] clock may still be behind.
const Lag = time.Millisecond

// Clock reads a steady clock.
type Clock func() Instant

// Add returns i + d.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns i − j.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// Micros returns i in microseconds, the unit of stamps.
func (i Instant) Micros() int64 { return int64(i) / 1000 }

// Monotonic returns Go's monotonic clock. Tests can control it with testing/synctest.
func Monotonic() Clock {
	start := time.Now()
	return func() Instant { return Instant(time.Since(start)) }
}
