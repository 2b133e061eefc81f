// Package clock contains the client's steady clock. A steady clock never jumps. If the platform allows it, this clock
// also runs while the host is suspended, because a lease expires even while a laptop is closed. Go's monotonic clock
// stops then.
package clock

import (
	"context"
	"math"
	"time"
)

// Instant is a reading of a steady clock, in nanoseconds since an arbitrary start.
type Instant int64

// Lag is the longest time after a suspension of the host for which a [Steady] clock may still be behind.
const Lag = time.Millisecond

// Clock reads a steady clock.
type Clock func() Instant

// Add returns i + d. If that is too much for an Instant, it returns the last one, and if it is too little, the first
// one.
func (i Instant) Add(d time.Duration) Instant {
	sum := i + Instant(d)
	if (sum < i) == (d < 0) {
		return sum
	}
	return edge(d > 0)
}

// Sub returns i − j. If that is too much for a Duration, it returns the longest one, and if it is too little, the
// shortest one.
func (i Instant) Sub(j Instant) time.Duration {
	difference := i - j
	if (difference > i) == (j < 0) {
		return time.Duration(difference)
	}
	return time.Duration(edge(j < 0))
}

// edge returns the last Instant, or else the first one.
func edge(last bool) Instant {
	if last {
		return math.MaxInt64
	}
	return math.MinInt64
}

// Micros returns i in microseconds, the unit of stamps.
func (i Instant) Micros() int64 { return int64(i) / 1000 }

// Monotonic returns Go's monotonic clock. Tests can control it with testing/synctest.
func Monotonic() Clock {
	start := time.Now()
	return func() Instant { return Instant(time.Since(start)) }
}

// Rest waits for d. If ctx ends first, it returns the cause.
func Rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
