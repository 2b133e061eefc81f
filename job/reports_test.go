package job_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// Two versions of a schedule in one fleet are reported, once in each process.
func TestTwoVersionsOfAScheduleAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, log := newFleet(t, 1), &records{}
		logger := slog.New(slog.NewTextHandler(log, nil))
		nothing := func(*process, context.Context, job.Tick) error { return nil }
		a := f.start(job.Spec{Name: "x", Schedule: "every 1m", Logger: logger}, nothing)
		b := f.start(job.Spec{Name: "x", Schedule: "every 90s", Logger: logger}, nothing)
		time.Sleep(20 * time.Minute)
		a.stop()
		b.stop()
		f.ends.Wait()
		if n := log.count("job differs in the fleet"); n != 2 {
			t.Errorf("%d reports", n)
		}
	})
}

// The clocks of a majority were ahead and came back. The job is not run, which is reported, until an operator resets
// it.
func TestATickInTheFutureIsReportedAndReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l, log := newFleet(t, 3), newLedger(), &records{}
		spec := job.Spec{Name: "x", Schedule: "every 1m", Logger: slog.New(slog.NewTextHandler(log, nil))}
		begin := func() *process {
			return f.start(spec, func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil })
		}
		c := f.client(&atomic.Bool{})
		defer c.Close()
		if err := job.SetTick(context.Background(), c, "x", f.now().Add(48*time.Hour)); err != nil {
			t.Fatal(err)
		}
		ran, err := job.Once(context.Background(), c, "x", f.now(), nothing)
		if ran || !errors.Is(err, job.ErrFuture) {
			t.Errorf("Once: %t, %v", ran, err)
		}
		p := begin()
		time.Sleep(5 * time.Minute)
		if l.runs > 0 || log.count("in the future") != 1 {
			t.Errorf("%d runs, %d reports", l.runs, log.count("in the future"))
		}
		if err := job.SetTick(context.Background(), c, "x", f.now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		p.stop()
		f.ends.Wait()
		if l.runs != 5 {
			t.Errorf("%d runs in the 5 minutes after the reset", l.runs)
		}
	})
}
