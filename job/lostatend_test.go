package job_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/job"
)

// An operator takes the lock away just before the run ends. The process learns of it when it stores the outcome: the
// run counts as crashed, in every place, and one line says so.
func TestALossThatIsFoundAtTheEndOfARunIsALossOfTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, log := newFleet(t, 3), &records{}
		c := f.client(&atomic.Bool{})
		defer c.Close()
		var told []job.Outcome
		spec := job.Spec{Name: "x", Logger: slog.New(slog.NewTextHandler(log, nil)), OnOutcome: func(o job.Outcome) { told = append(told, o) }}
		ran, err := spec.Once(t.Context(), c, f.now(), func(context.Context, job.Tick) error {
			if _, err := admin.Unlock(t.Context(), c, "x", admin.UnlockOptions{}); err != nil {
				t.Error(err)
			}
			return nil
		})
		if !ran || !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("Once: %t, %v", ran, err)
		}
		if len(told) != 1 || told[0].State != job.Crashed {
			t.Errorf("outcomes: %+v", told)
		}
		if n := log.count("job lost its lock while it ran"); n != 1 || len(log.all) != 1 {
			t.Errorf("the log: %q", log.all)
		}
	})
}

// A lock that is lost after the outcome is stored costs the run nothing. The library itself reports the loss.
func TestALossAfterTheOutcomeIsStoredIsNoLossOfTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, log := newFleet(t, 3), &records{}
		c := f.client(&atomic.Bool{})
		defer c.Close()
		spec := job.Spec{Name: "x", Logger: slog.New(slog.NewTextHandler(log, nil)), OnOutcome: func(job.Outcome) {
			if _, err := admin.Unlock(t.Context(), c, "x", admin.UnlockOptions{}); err != nil {
				t.Error(err)
			}
		}}
		ran, err := spec.Once(t.Context(), c, f.now(), func(context.Context, job.Tick) error { time.Sleep(time.Millisecond); return nil })
		if !ran || err != nil {
			t.Errorf("Once: %t, %v", ran, err)
		}
		if n := log.count("job done"); n != 1 || len(log.all) != 1 {
			t.Errorf("the log: %q", log.all)
		}
	})
}
