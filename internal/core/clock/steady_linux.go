package clock

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// lookEvery is how long the clock relies on its last check for a suspension: see [Lag]. A holder learns of a suspension
// later by this time. This is short beside the second after which the keeper checks all leases.
const lookEvery = Lag

// Steady returns CLOCK_BOOTTIME: CLOCK_MONOTONIC plus the time spent suspended.
//
// Reading CLOCK_BOOTTIME is a system call, and a lock reads its clock several times. Reading CLOCK_MONOTONIC needs no
// system call. The difference of the two changes only in a suspension, and Steady checks it once per lookEvery.
func Steady() Clock {
	s := &steady{mono: Monotonic()}
	var ok bool
	if s.start, ok = boottime(); !ok {
		return Monotonic() // a sandbox forbids the call
	}
	return s.now
}

type steady struct {
	mono      Clock
	start     int64
	suspended atomic.Int64 // BOOTTIME − MONOTONIC since the start, ns; only grows
	looked    atomic.Int64 // instant of the last check, by mono
}

func (s *steady) now() Instant {
	m := s.mono()
	if last := s.looked.Load(); m.Sub(Instant(last)) >= lookEvery && s.looked.CompareAndSwap(last, int64(m)) {
		s.look()
	}
	return m + Instant(s.suspended.Load())
}

// look updates the difference of the clocks if it has grown. It reads mono last. So a pause between the two readings
// makes the difference too small, and the next look corrects that. A difference that is too large would never be
// corrected.
func (s *steady) look() {
	boot, ok := boottime()
	difference := boot - s.start - int64(s.mono())
	for old := s.suspended.Load(); ok && difference > old; old = s.suspended.Load() {
		if s.suspended.CompareAndSwap(old, difference) {
			return
		}
	}
}

func boottime() (ns int64, ok bool) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	return ts.Nano(), err == nil
}
