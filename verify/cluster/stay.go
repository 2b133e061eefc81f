//go:build linux

package cluster

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/verify/chaos"
)

// stay is the time that a process spent in the critical section of a name. Times are in ns of CLOCK_MONOTONIC.
type stay struct {
	Name    int // the number of the name
	Process int
	Token   int64 `json:",omitempty"`
	Enter   int64
	Leave   int64 // not included
	Lost    bool  `json:",omitempty"` // the hold ended before the process wanted to leave
	Wrote   bool  `json:",omitempty"` // the process has incremented the counter
}

// leave returns the time at which a stay ends: now, or at the deadline of the hold if that has passed.
func leave(hold context.Context, enter int64) int64 {
	now := chaos.Monotonic()
	deadline, ok := hold.Deadline()
	if !ok {
		return now
	}
	return max(enter, min(now, onMonotonic(deadline)))
}

// onMonotonic converts an instant of Go's clock into CLOCK_MONOTONIC. It reads both clocks. The process may be stopped
// between the two readings, so onMonotonic repeats them until they are close together.
func onMonotonic(at time.Time) int64 {
	for {
		before := chaos.Monotonic()
		left := time.Until(at)
		if chaos.Monotonic()-before < int64(200*time.Microsecond) {
			return before + int64(left)
		}
	}
}
