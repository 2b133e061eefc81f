// Package delay measures how long a goroutine of this process waits for a processor when it can run. Go has no
// priorities: with k computing goroutines on p processors, a goroutine whose answer has arrived waits for about
// k/p · 10 ms. A node that answered long ago then looks as if it hung.
//
// The package is about the whole process, because all goroutines share the processors. A process that asks for no delay
// measures none.
package delay

import (
	"runtime"
	"sync/atomic"
	"time"
)

const (
	// remembered is the time for which a measured delay counts.
	remembered = 10 * time.Second
	// every is the longest pause between two measurements while somebody asks for the delay, and soon is the pause after
	// a slow answer.
	every = time.Second
	soon  = 100 * time.Millisecond
	// least is the shortest delay that counts. It is far above what an idle process needs, and far below a window.
	least = 20 * time.Millisecond
)

var (
	epoch = time.Now()
	began atomic.Int64 // when the running measurement began, in ns since epoch; 0: none runs
	ended atomic.Int64 // when the last measurement ended
	worst atomic.Int64 // the longest delay that still counts
	until atomic.Int64 // when worst ceases to count
)

func now() int64 { return int64(time.Since(epoch)) }

// virtual reports whether t is an instant of a bubble of testing/synctest, whose clock begins in the year 2000, before
// epoch. There the process has no delay, and the bubble must leave the measurements of the other goroutines alone.
func virtual(t int64) bool { return t < 0 }

// Suspect starts a measurement, unless one is running or has ended a moment ago. Call it when an answer was slow: the
// node may be slow, or this process. It does not block.
func Suspect() { measure(now(), soon) }

// measure starts a measurement, unless one is running or has ended within the time pause.
func measure(t int64, pause time.Duration) {
	if virtual(t) || t-ended.Load() < int64(pause) || !began.CompareAndSwap(0, t) {
		return
	}
	go func() {
		runtime.Gosched() // puts this goroutine behind all others that can run, as the arrival of an answer does
		end := now()
		note(end, end-began.Load())
		ended.Store(end)
		began.Store(0)
	}()
}

// note records a delay that was measured at the instant t.
func note(t, d int64) {
	if d < int64(least) || t < until.Load() && d < worst.Load() {
		return
	}
	worst.Store(d)
	until.Store(t + int64(remembered))
}

// Recent returns the longest delay that was measured in the last ten seconds. A measurement that is still running
// counts with the time that it has taken so far. Recent returns 0 for a delay below 20 ms: such a process is not busy.
// The call starts a measurement if the last one ended more than a second ago.
func Recent() time.Duration {
	t, d := now(), int64(0)
	if virtual(t) {
		return 0
	}
	measure(t, every)
	if t < until.Load() {
		d = worst.Load()
	}
	if b := began.Load(); b != 0 {
		d = max(d, t-b)
	}
	if d < int64(least) {
		return 0
	}
	return time.Duration(d)
}
