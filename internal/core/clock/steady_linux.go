package clock

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// checkEvery is the time for which the clock uses its last check for a suspension: see [Lag]. So a holder may learn of
// a suspension that much later. This is little compared with the second after which the keeper checks all leases.
const checkEvery = Lag

// Steady returns a clock that follows CLOCK_BOOTTIME. This is CLOCK_MONOTONIC plus the time for which the host was
// suspended.
//
// A read of CLOCK_BOOTTIME is a system call, and a lock reads its clock several times. A read of CLOCK_MONOTONIC needs
// no system call. Only a suspension changes the difference between the two, so Steady reads both only once per
// checkEvery.
func Steady() Clock {
	s := &steady{from: time.Now()}
	var ok bool
	if s.start, ok = boottime(); !ok {
		return Monotonic() // in a sandbox that forbids the call
	}
	return s.now
}

type steady struct {
	from      time.Time    // the start, by Go's monotonic clock
	start     int64        // the start, by CLOCK_BOOTTIME
	suspended atomic.Int64 // BOOTTIME − MONOTONIC since the start, ns; it never decreases
	checked   atomic.Int64 // the instant of the last check, by mono
}

// mono returns the time since the start, by CLOCK_MONOTONIC. It is a method, because a call of a [Clock] is slower.
func (s *steady) mono() Instant { return Instant(time.Since(s.from)) }

func (s *steady) now() Instant {
	m := s.mono()
	if last := s.checked.Load(); m-Instant(last) >= Instant(checkEvery) && s.checked.CompareAndSwap(last, int64(m)) {
		s.check()
		m = s.mono() // the system call may have taken long: Go gives the processor to another goroutine in the meantime
	}
	return m + Instant(s.suspended.Load())
}

// check raises the stored difference between the two clocks if it has grown. It reads mono last. If the goroutine
// pauses between the two reads, the difference is then too small, and the next check corrects it. A difference that is
// too large would stay for ever.
func (s *steady) check() {
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
