package ending

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

type reading func() clock.Instant

func (r reading) Now() clock.Instant { return r() }

// A renewal may move the deadline between the two looks of somebody who compares it with the clock. Only one of them
// succeeds, and an end stays.
func TestADeadlineThatHasPassedDoesNotMove(t *testing.T) {
	var d Deadline
	d.Set(10)
	moved := false
	if d.Passed(reading(func() clock.Instant { moved = moved || d.Move(20); return 15 })) || !moved || d.At() != 20 {
		t.Errorf("a deadline that moved to 20 has passed at 15: moved %v, now %d", moved, d.At())
	}
	if d.Passed(reading(func() clock.Instant { return 19 })) || !d.Passed(reading(func() clock.Instant { return 20 })) {
		t.Error("a deadline passes at its instant")
	}
	if d.Move(30) || !d.Passed(reading(func() clock.Instant { return 0 })) {
		t.Error("a deadline that has passed came back")
	}
	d.Set(10)
	if d.End(); d.Move(30) || !d.Passed(reading(func() clock.Instant { return 0 })) {
		t.Error("a deadline that has ended came back")
	}
}
