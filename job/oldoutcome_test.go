package job_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// Every call of Once finds the tick taken. So the nodes must keep the outcome, also for longer than they keep a value.
func TestACallOfOnceKeepsTheOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		c := f.client(&atomic.Bool{})
		defer c.Close()
		tick := f.now().Truncate(time.Second)
		runs := 0
		for day := range 40 {
			if _, err := job.Once(context.Background(), c, "x", tick, func(context.Context, job.Tick) error { runs++; return nil }); err != nil {
				t.Fatalf("day %d: %v", day, err)
			}
			time.Sleep(24 * time.Hour)
		}
		if runs != 1 {
			t.Errorf("the tick ran %d times in 40 days", runs)
		}
	})
}
