// Package clock is the client's own steady clock. It never steps, and where the
// platform allows it goes on while the host is suspended: a lease does not stop
// running out because a laptop's lid is closed. Go's monotonic clock does stop.
package clock

import "time"

// Instant is a reading of a steady clock, in nanoseconds since an arbitrary start.
type Instant int64

// Lag is how much later than a suspension of the host a [Steady] clock may still not know of it.
const Lag = time.Millisecond

// Clock reads a steady clock.
type Clock func() Instant

// Add returns i + d.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns i − j.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// Micros returns i in microseconds, the unit of stamps.
func (i Instant) Micros() int64 { return int64(i) / 1000 }

// Monotonic returns Go's monotonic clock, which testing/synctest can drive.
func Monotonic() Clock {
	start := time.Now()
	return func() Instant { return Instant(time.Since(start)) }
}
