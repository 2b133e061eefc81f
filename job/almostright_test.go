package job_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A crontab asks at the full hour by the machine's clock, which is some ms behind or ahead of the nodes'. holdfast run
// --tick 1h must run each hour, as README.md says.
func TestACrontabWhoseClockIsAlmostRightRunsEachTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		c := f.client(&atomic.Bool{})
		defer c.Close()
		hourly, err := job.ParseSchedule("every 1h")
		if err != nil {
			t.Fatal(err)
		}
		first := f.now().Truncate(time.Hour).Add(time.Hour)
		for i, off := range []time.Duration{100, -100, 100, -100, 100, -100} {
			at := first.Add(time.Duration(i) * time.Hour).Add(off * time.Millisecond)
			time.Sleep(at.Sub(f.now()))
			tick, err := job.TickAt(context.Background(), c, hourly)
			if err != nil {
				t.Fatal(err)
			}
			ran, err := job.Once(context.Background(), c, "x", tick, func(context.Context, job.Tick) error { return nil })
			if !ran || err != nil {
				t.Errorf("the call at %s: %t, %v", at.Format(time.TimeOnly+".000"), ran, err)
			}
		}
	})
}
