package job_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A run takes longer than the interval and the grace. The tick that came during the run is not overdue after it. The next
// one is, if nobody is there.
func TestATickDuringALongRunIsNotOverdueAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a := newAlerts(f, time.Hour)
		f.until(a.first.Add(-time.Minute))
		p := f.start(job.Spec{Name: "x", Schedule: "every 1h", OnAlert: a.add}, func(*process, context.Context, job.Tick) error {
			time.Sleep(65 * time.Minute)
			return nil
		})
		c, last := f.operator()
		defer c.Close()
		f.until(a.first.Add(100 * time.Minute))
		if o := last(); o.Overdue(f.now()) != 0 || !o.Next.Equal(a.first.Add(2*time.Hour)) {
			t.Errorf("after the run it is overdue by %s; next %s", o.Overdue(f.now()), o.Next.Sub(a.first))
		}
		f.stopAll([]*process{p})
		f.until(a.first.Add(125 * time.Minute))
		if o := last(); o.Overdue(f.now()).Round(time.Minute) != 5*time.Minute {
			t.Errorf("the next tick is overdue by %s", o.Overdue(f.now()))
		}
		a.are()
	})
}
