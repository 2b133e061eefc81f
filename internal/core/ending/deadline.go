package ending

import (
	"math"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Deadline is the deadline of a lease in one atomic word. Whoever finds that it has passed ends it before he says so. A
// renewal that won moves it, and fails if it has ended. So nobody who was told of the end finds the lease valid later,
// and no mutex is needed.
type Deadline struct{ at atomic.Int64 }

// over is the value of a Deadline that has ended. It lies before all instants.
const over = math.MinInt64

// Set sets the deadline of a new lease.
func (d *Deadline) Set(at clock.Instant) { d.at.Store(int64(at)) }

// At returns the deadline. After the end it returns an instant that lies before all others.
func (d *Deadline) At() clock.Instant { return clock.Instant(d.at.Load()) }

// End ends the deadline. From now on it has passed.
func (d *Deadline) End() { d.at.Store(over) }

// Passed reports whether the deadline has passed or has ended, and ends it if so. It reads the clock after the
// deadline: otherwise it could compare a new deadline with an old reading.
func (d *Deadline) Passed(now interface{ Now() clock.Instant }) bool {
	for {
		at := d.at.Load()
		if at == over {
			return true
		}
		if now.Now() < clock.Instant(at) {
			return false
		}
		if d.at.CompareAndSwap(at, over) {
			return true
		}
	}
}

// Move moves the deadline. It returns false if the deadline has ended. Only one goroutine may call Move at a time. It
// must have found with Passed that the old deadline has not passed.
func (d *Deadline) Move(to clock.Instant) bool {
	old := d.at.Load()
	return old != over && d.at.CompareAndSwap(old, int64(to))
}
