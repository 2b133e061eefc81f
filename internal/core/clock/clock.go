// Package clock is the client's own steady clock. It never steps. On platforms that allow it, it goes on while the host
// is suspended: a lease also expires while a laptop's lid is closed. Go's monotonic clock stops during a suspension.
package clock

import "time"

// Instant is a reading of a steady clock, in nanoseconds since an arbitrary start.
type Instant int64

// Lag is the longest time after a suspension of the host for which a [Steady] clock may not take it into account.
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
