package job_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A tick that JSON cannot hold is refused. Otherwise it would leave an empty value, and the job would never run again.
func TestNoTickMakesAnUnreadableOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		c := f.client(&atomic.Bool{})
		defer c.Close()
		err := job.SetTick(context.Background(), c, "x", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))
		t.Logf("SetTick: %v", err)
		if last, err := job.Last(context.Background(), c, "x"); err != nil {
			t.Errorf("afterwards the outcome is %v, %v", last, err)
		}
		_, err = job.Once(context.Background(), c, "y", time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC), func(context.Context, job.Tick) error { return nil })
		t.Logf("Once: %v", err)
		if last, err := job.Last(context.Background(), c, "y"); err != nil {
			t.Errorf("after a tick of long ago the outcome is %v, %v", last, err)
		}
	})
}
