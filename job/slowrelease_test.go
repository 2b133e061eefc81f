package job_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A process looks for ticks, finds none, and releases the lock. A tick comes before the release has ended. The process
// runs it at once, and not only after the next tick.
func TestATickThatComesDuringAReleaseIsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		next := f.now().Truncate(time.Hour).Add(time.Hour)
		f.slow.Store(true)
		time.Sleep(next.Sub(f.now()) - 500*time.Millisecond)
		p := f.start(job.Spec{Name: "x", Schedule: "every 1h"}, func(_ *process, _ context.Context, tick job.Tick) error {
			l.begins(tick)
			return nil
		})
		time.Sleep(30 * time.Minute)
		p.stop()
		f.ends.Wait()
		if l.began[next] != 1 {
			t.Errorf("the tick began %d times", l.began[next])
		}
	})
}

// Each run ends a moment before the next tick, so the tick comes while the process stores the outcome, releases the
// lock or asks for the time.
func TestEveryTickRunsAlthoughTheRunBeforeEndedJustThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		p := f.start(job.Spec{Name: "x", Schedule: "every 10s"}, func(_ *process, _ context.Context, tick job.Tick) error {
			l.begins(tick)
			time.Sleep(tick.Time.Add(10*time.Second).Sub(f.now()) - time.Duration(rand.Int64N(int64(20*time.Millisecond))))
			return nil
		})
		time.Sleep(10 * time.Minute)
		p.stop()
		f.ends.Wait()
		if len(l.order) < 58 {
			t.Errorf("%d ticks ran in 10 minutes", len(l.order))
		}
		for i, tick := range l.order {
			if i > 0 && tick.Sub(l.order[i-1]) != 10*time.Second {
				t.Errorf("the tick %s follows %s", tick, l.order[i-1])
			}
		}
	})
}
