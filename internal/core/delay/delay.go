// Package delay measures how long a goroutine of this process waits for a processor when it can run. Go has no
// priorities: with k computing goroutines on p processors, a goroutine whose answer has arrived waits for about
// k/p · 10 ms. A node that answered long ago then looks as if it hung.
//
// The package is about the whole process, because all goroutines share the processors. A process in which nobody calls
// Suspect measures nothing.
package delay

import (
	"runtime"
	"sync/atomic"
	"time"
)

const (
	// remembered is the time for which a measured delay counts.
	remembered = 3 * time.Second
	// pause is the shortest time between two measurements.
	pause = 100 * time.Millisecond
	// most is the longest delay that counts. A longer one is a process that was stopped, and time limits must not grow
	// by that.
	most = 5 * time.Second
	// least is the shortest delay that counts. It is far above what an idle process needs, and far below a window.
	least = 20 * time.Millisecond
)

var (
	epoch = time.Now()
	began atomic.Int64 // when the running measurement began, in ns since epoch; 0: none runs
	ended atomic.Int64 // when the last measurement ended
	worst atomic.Int64 // the longest delay that still counts; 0: none
	until atomic.Int64 // when worst ceases to count

	spent     atomic.Int64 // the processor time of this process when the running measurement began
	computing atomic.Int64 // the instant until which the process counts as computing: see Computing
)

func now() int64 { return int64(time.Since(epoch)) }

// virtual reports whether t is an instant of a bubble of testing/synctest, whose clock begins in the year 2000, before
// epoch. There the process has no delay, and the bubble must leave the measurements of the other goroutines alone.
func virtual(t int64) bool { return t < 0 }

// Suspect starts a measurement, unless one is running or has ended a moment ago. Call it when an answer was slow,
// because the node may be slow, or this process. A client at work also calls it about once a second. It does not block.
func Suspect() {
	t := now()
	if virtual(t) || t-ended.Load() < int64(pause) || !began.CompareAndSwap(0, t) {
		return
	}
	spent.Store(processorTime())
	go func() {
		runtime.Gosched() // puts this goroutine behind all others that can run, as the arrival of an answer does
		end := now()
		d := end - began.Load()
		note(end, d)
		if d >= int64(least) && computes(d) {
			computing.Store(end + int64(remembered))
		}
		ended.Store(end)
		began.Store(0)
	}()
}

// note records a delay that was measured at the instant t.
func note(t, d int64) {
	d = min(d, int64(most))
	if d < int64(least) || t < until.Load() && d < worst.Load() {
		return
	}
	until.Store(t + int64(remembered))
	worst.Store(d)
}

// Recent returns the longest delay that was measured in the last three seconds. A measurement that is still running
// counts with the time that it has taken so far. Recent returns 0 for a delay below 20 ms: such a process is not busy.
// It then costs two atomic loads, so every call to a node may ask.
func Recent() time.Duration {
	d, b := worst.Load(), began.Load()
	if d == 0 && b == 0 {
		return 0
	}
	t := now()
	if virtual(t) {
		return 0
	}
	if d != 0 && t >= until.Load() {
		worst.CompareAndSwap(d, 0)
		d = 0
	}
	if b != 0 {
		d = max(d, min(t-b, int64(most)))
	}
	if d < int64(least) {
		return 0
	}
	return time.Duration(d)
}

// Computing reports whether goroutines of this process waited lately because others of them computed. It reports false
// if the delay came from other processes, which took the processors. Then it does not help to poll a socket, as the
// drivers do in a process that computes.
func Computing() bool {
	d := Recent()
	if d == 0 {
		return false
	}
	if t := now(); t < computing.Load() {
		return true
	}
	b := began.Load()
	return b != 0 && now()-b >= int64(least) && computes(now()-b)
}

// computes reports whether this process had half of a processor or more during the last d nanoseconds. A process that
// waits for processors has less.
func computes(d int64) bool { return processorTime()-spent.Load() >= d/2 }
