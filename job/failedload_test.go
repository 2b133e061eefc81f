package job_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// docs/guide/jobs.md: if the nodes cannot tell whether the tick was taken, a run with retry waits for the nodes.
func TestARetriedRunWaitsForItsLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		p := f.start(job.Spec{Name: "x", Schedule: "every 1h", OnCrash: job.CrashRetry}, func(_ *process, _ context.Context, tick job.Tick) error {
			l.begins(tick)
			return nil
		})
		next := f.now().Truncate(time.Hour).Add(time.Hour)
		time.Sleep(next.Sub(f.now()) - time.Second)
		f.loadless.Store(true)
		time.Sleep(10 * time.Second)
		f.loadless.Store(false)
		time.Sleep(30 * time.Minute)
		p.stop()
		f.ends.Wait()
		if l.began[next] != 1 {
			t.Errorf("the nodes did not answer a load for 9 s; the tick began %d times", l.began[next])
		}
	})
}
