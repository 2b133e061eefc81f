package clock

import (
	"sync"
	"testing"
	"time"
)

func TestSteadyNeverGoesBackAndFollowsBoottime(t *testing.T) {
	start, ok := boottime()
	if !ok {
		t.Fatal("CLOCK_BOOTTIME cannot be read here")
	}
	now := Steady()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			last := now()
			for range 200_000 {
				i := now()
				if i < last {
					t.Errorf("%d after %d", i, last)
					return
				}
				last = i
			}
		})
	}
	wait.Wait()
	before, _ := boottime()
	i := int64(now())
	after, _ := boottime()
	// The clock now began to count after start was read, and at most a second later. So i may be smaller than the time
	// since start by up to a second.
	if i > after-start || i < before-start-int64(time.Second) {
		t.Errorf("%d, CLOCK_BOOTTIME says %d to %d", i, before-start, after-start)
	}
}

// A suspension shows as a growing difference of the two clocks. An earlier start causes the same difference.
func TestSteadyNoticesASuspension(t *testing.T) {
	start, _ := boottime()
	s := &steady{from: time.Now(), start: start}
	before := s.now()
	s.start -= int64(time.Hour)
	time.Sleep(2 * checkEvery) // the last check is too old by then
	if d := s.now().Sub(before); d < time.Hour || d > time.Hour+time.Minute {
		t.Errorf("after an hour of suspension the clock moved by %v", d)
	}
	s.start += int64(time.Hour) // this looks like a reading that came late
	time.Sleep(2 * checkEvery)
	if d := s.now().Sub(before); d < time.Hour {
		t.Errorf("it went back to %v", d)
	}
}
