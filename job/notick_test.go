package job_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/holdfast-go/holdfast/job"
)

// A schedule may have no tick in the last years. Then there is no tick to run, and not one in the year 1.
func TestThereIsNoTickBeforeTheFirstOne(t *testing.T) {
	schedule, err := job.ParseSchedule("0 0 29 2 */7") // a Sunday: 2004, 2032, 2060; the fleet lives in 2029
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		c := newFleet(t, 3).client(&atomic.Bool{})
		defer c.Close()
		if tick, err := job.TickAt(context.Background(), c, schedule); err == nil {
			t.Errorf("the present tick is %s, want an error", tick)
		}
	})
}
