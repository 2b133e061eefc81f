package job_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A job whose first tick has not come runs when an operator asks for it, once. Then its ticks come as usual, and none
// counts as missed.
func TestAJobThatNeverRanRunsWhenItIsAskedFor(t *testing.T) {
	for _, missed := range []job.Missed{job.MissedSkip, job.MissedOnce, job.MissedAll} {
		t.Run(string(missed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l := newFleet(t, 3), newLedger()
				first := f.now().Truncate(24 * time.Hour).Add(24 * time.Hour)
				var all []*process
				for range 3 {
					all = append(all, f.start(job.Spec{Name: "x", Schedule: "every 24h", Missed: missed}, func(_ *process, _ context.Context, tick job.Tick) error {
						if l.begins(tick); tick.Missed != 0 || tick.Manual == tick.Time.Equal(first) {
							t.Errorf("the run %+v", tick)
						}
						return nil
					}))
				}
				c, last := f.operator()
				defer c.Close()
				f.until(first.Add(-time.Hour))
				f.must(job.Trigger(t.Context(), c, "x", "try it"))
				if o := last(); o.State != job.Removed || !o.Tick.IsZero() || o.Book.Asked == nil || len(o.History()) != 0 {
					t.Errorf("the request is %s, %+v", o, o.Book)
				}
				if err := job.Pause(t.Context(), c, "x", ""); !errors.Is(err, job.ErrNeverRan) {
					t.Errorf("a pause: %v", err)
				}
				f.until(first.Add(-time.Hour + 12*time.Second))
				if o := last(); o.State != job.Done || !o.Manual || !o.Next.Equal(first) || l.runs != 1 {
					t.Errorf("after the request %s, next %s, %d runs", o, o.Next, l.runs)
				}
				f.until(first.Add(time.Minute))
				f.stopAll(all)
				if o := last(); l.runs != 2 || !o.Tick.Equal(first) || o.Book.Missed != 0 {
					t.Errorf("%d runs, the last is %s, missed %d", l.runs, o, o.Book.Missed)
				}
			})
		})
	}
}

// A request for a first run takes no tick that was due before it: Once runs that tick, and keeps the request.
func TestARequestForAFirstRunTakesNoTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		c, last := f.operator()
		defer c.Close()
		tick := f.now()
		f.until(tick.Add(time.Second))
		f.must(job.Trigger(t.Context(), c, "x", ""))
		if ran, err := job.Once(t.Context(), c, "x", tick, func(_ context.Context, tick job.Tick) error { l.begins(tick); return nil }); !ran || err != nil {
			t.Errorf("Once: %t, %v", ran, err)
		}
		if o := last(); o.Book.Asked == nil || l.runs != 1 {
			t.Errorf("%d runs, request %+v", l.runs, o.Book.Asked)
		}
	})
}

// A request that was withdrawn causes no run: of a job that never ran, of one that did, and of one that was removed.
func TestARequestCanBeWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		var runs atomic.Int64
		c, last := f.operator()
		defer c.Close()
		ask := func() {
			t.Helper()
			f.must(job.Trigger(t.Context(), c, "x", ""))
			f.must(job.Cancel(t.Context(), c, "x", "a mistake"))
			if o := last(); o.Book.Asked != nil || o.Book.Audit[0].What != "cancel" || o.Book.Audit[0].Note != "a mistake" {
				t.Errorf("after Cancel: %+v", o.Book)
			}
			if err := job.Cancel(t.Context(), c, "x", ""); !errors.Is(err, job.ErrNotAsked) {
				t.Errorf("a second Cancel: %v", err)
			}
		}
		ask()
		p := f.start(job.Spec{Name: "x", Schedule: "every 1h"}, func(*process, context.Context, job.Tick) error { runs.Add(1); return nil })
		first := f.now().Truncate(time.Hour).Add(time.Hour)
		f.until(first.Add(-time.Second))
		if runs.Load() != 0 {
			t.Error("a request that was withdrawn caused a run")
		}
		f.until(first.Add(time.Minute))
		ask()
		f.must(job.Remove(t.Context(), c, "x", ""))
		ask()
		f.until(first.Add(2 * time.Minute))
		if runs.Load() != 1 {
			t.Errorf("%d runs; want the first tick", runs.Load())
		}
		f.must(job.Trigger(t.Context(), c, "x", "")) // the process still has the removed job
		f.until(first.Add(3 * time.Minute))
		f.stopAll([]*process{p})
		if runs.Load() != 2 {
			t.Errorf("%d runs; want the first tick and the last request", runs.Load())
		}
	})
}
