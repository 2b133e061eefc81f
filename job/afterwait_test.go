package job_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// Once looks at the clock after it has waited for the lock. A tick that another process took in that time is not in the
// future. The outcome of its own run has the time at which that run began.
func TestOnceLooksAtTheClockAfterItsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		c := f.client(&atomic.Bool{})
		defer c.Close()
		runs := 0
		work := func(*process, context.Context, job.Tick) error {
			if runs++; runs == 1 { // the other process waits meanwhile, and then takes a tick that comes after the call of Once
				time.Sleep(7 * time.Minute / 2)
			}
			return nil
		}
		spec := job.Spec{Name: "x", Schedule: "every 1m", Missed: job.MissedOnce}
		p, q := f.start(spec, work), f.start(spec, work)
		time.Sleep(2 * time.Minute) // the first run goes on
		ran, err := job.Once(context.Background(), c, "x", f.now().Truncate(time.Minute), func(context.Context, job.Tick) error { return nil })
		p.stop()
		q.stop()
		f.ends.Wait()
		if ran || err != nil {
			t.Errorf("a tick that another process took meanwhile: %t, %v", ran, err)
		}

		began := f.now()
		f.ends.Go(func() {
			c := f.client(&atomic.Bool{})
			defer c.Close()
			_, _ = job.Once(context.Background(), c, "y", began.Add(-time.Second), func(context.Context, job.Tick) error { time.Sleep(time.Hour); return nil })
		})
		time.Sleep(time.Minute)
		if ran, err = job.Once(context.Background(), c, "y", began, func(context.Context, job.Tick) error { return nil }); !ran || err != nil {
			t.Fatalf("Once: %t, %v", ran, err)
		}
		last, err := job.Last(context.Background(), c, "y")
		if err != nil || last.Started.Before(began.Add(time.Hour)) {
			t.Errorf("a run that waited an hour is said to have started after %s: %v", last.Started.Sub(began), err)
		}
		f.ends.Wait()
	})
}
