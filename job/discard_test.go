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

// Discard replaces the value of another program, or a damaged one. The job begins again. It leaves an outcome alone, also one
// of a newer version.
func TestAValueThatIsNoOutcomeIsDiscarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		c := f.client(&atomic.Bool{})
		ctx := context.Background()
		store := func(value string) {
			lease, err := c.Mutex("x").Lock(ctx)
			f.must(err)
			f.must(lease.Store(ctx, []byte(value)))
			f.must(lease.Unlock(ctx))
		}
		for _, value := range []string{"my progress", "", `{"holdfast_job":1,"tick":"x"}`} {
			store(value)
			if err := job.SetTick(ctx, c, "x", f.now()); !errors.Is(err, job.ErrNoJob) {
				t.Errorf("SetTick of %q: %v, want %v", value, err, job.ErrNoJob)
			}
			f.must(job.Discard(ctx, c, "x"))
			if o, err := job.Last(ctx, c, "x"); err != nil || o == nil || o.State != job.Removed || !o.Tick.IsZero() {
				t.Errorf("after %q the outcome is %v, %v", value, o, err)
			}
			if err := job.Pause(ctx, c, "x", ""); !errors.Is(err, job.ErrNeverRan) {
				t.Errorf("after %q: Pause: %v, want %v", value, err, job.ErrNeverRan)
			}
		}
		l := newLedger()
		p := f.start(job.Spec{Name: "x", Schedule: "every 1m"}, func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil })
		time.Sleep(3 * time.Minute)
		p.stop()
		f.ends.Wait()
		before, err := job.Last(ctx, c, "x")
		f.must(err)
		f.must(job.Discard(ctx, c, "x"))
		if after, err := job.Last(ctx, c, "x"); err != nil || after.State != job.Done || !after.Tick.Equal(before.Tick) || l.runs < 2 {
			t.Errorf("%d runs; the outcome was %v and is %v, %v", l.runs, before, after, err)
		}
		store(`{"holdfast_job":99}`)
		if err := job.Discard(ctx, c, "x"); !errors.Is(err, job.ErrNoJob) {
			t.Errorf("a newer version: %v, want %v", err, job.ErrNoJob)
		}
		f.must(c.Close())
	})
}
