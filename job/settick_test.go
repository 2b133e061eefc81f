package job_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// An instant whose next tick cannot be stored is refused, and the job keeps its book. The last instant that has a next
// tick is none of these.
func TestSetTickKeepsTheBookNearTheEndOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		first := f.now().Truncate(time.Hour).Add(time.Hour)
		f.until(first.Add(-time.Minute))
		p := f.start(job.Spec{Name: "x", Schedule: "every 1h"}, ok)
		c, last := f.operator()
		defer c.Close()
		f.until(first.Add(time.Minute))
		f.stopAll([]*process{p})
		end := time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC)
		err := job.SetTick(t.Context(), c, "x", end)
		if err == nil || !strings.Contains(err.Error(), "the tick after 9999-12-31T23:00:00Z cannot be stored") {
			t.Errorf("the next tick is in the year 10000: %v", err)
		}
		if o := last(); !o.Tick.Equal(first) || o.State != job.Done {
			t.Errorf("a refused call changed the outcome: %s", o)
		}
		f.must(job.SetTick(t.Context(), c, "x", end.Add(-time.Hour)))
		if o := last(); !o.Next.Equal(end) || o.Book.Runs[job.Done] != 1 {
			t.Errorf("the next tick is %s; the runs are %v", o.Next, o.Book.Runs)
		}
	})
}
