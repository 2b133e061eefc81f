package job_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// Jitter delays ticks, and leaves out none.
func TestJitterLeavesOutNoTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		p := f.start(job.Spec{Name: "x", Schedule: "every 1m", Grace: 10 * time.Minute, Jitter: 5 * time.Minute}, func(_ *process, _ context.Context, tick job.Tick) error {
			l.begins(tick)
			return nil
		})
		time.Sleep(2 * time.Hour)
		p.stop()
		f.ends.Wait()
		if len(l.began) < 110 {
			t.Errorf("%d of 120 ticks began", len(l.began))
		}
	})
}
