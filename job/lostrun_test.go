package job_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// docs/guide/jobs.md: if the lock is lost in the run, retry runs the tick again. A process that is alone does that
// soon, too.
func TestALoneProcessRetriesALostRunSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		p := f.start(job.Spec{Name: "x", Schedule: "every 24h", OnCrash: job.CrashRetry}, func(p *process, ctx context.Context, tick job.Tick) error {
			l.begins(tick)
			if tick.Attempt > 1 {
				return nil
			}
			p.dead.Store(true) // the nodes are not reached for 10 s
			time.AfterFunc(10*time.Second, func() { p.dead.Store(false) })
			<-ctx.Done()
			return context.Cause(ctx)
		})
		next := f.now().Truncate(24 * time.Hour).Add(24 * time.Hour)
		time.Sleep(next.Sub(f.now()) + 5*time.Minute)
		p.stop()
		f.ends.Wait()
		if l.began[next] != 2 {
			t.Errorf("5 minutes after the lock was lost, the tick began %d times", l.began[next])
		}
	})
}
