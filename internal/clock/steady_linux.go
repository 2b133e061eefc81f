package clock

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// lookEvery is for how long what is known of suspensions is believed: see [Lag]. A holder whose
// host was suspended for long learns of it that much later than it could, which is
// nothing beside the second in which the leases of such a host are looked through.
const lookEvery = Lag

// Steady returns CLOCK_BOOTTIME: CLOCK_MONOTONIC plus the time spent suspended.
//
// Reading it is a system call, and a lock reads its clock several times. CLOCK_MONOTONIC
// is read without one; the difference only changes when the host was suspended, and is
// looked up once per lookEvery.
func Steady() Clock {
	s := &steady{mono: Monotonic()}
	var ok bool
	if s.start, ok = boottime(); !ok {
		return Monotonic() // a sandbox that forbids the call
	}
	return s.now
}

type steady struct {
	mono      Clock
	start     int64
	suspended atomic.Int64 // BOOTTIME − MONOTONIC since the start, ns; only grows
	looked    atomic.Int64 // when that was looked up, by mono
}

func (s *steady) now() Instant {
	m := s.mono()
	if last := s.looked.Load(); m.Sub(Instant(last)) >= lookEvery && s.looked.CompareAndSwap(last, int64(m)) {
		s.look()
	}
	return m + Instant(s.suspended.Load())
}

// look takes the difference of the clocks if it has grown. mono is read last: a
// pause in between makes the difference too small, which the next look mends, and
// never too large, which nothing would.
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
