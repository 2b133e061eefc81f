//go:build open

package job_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
)

// A run finds the lease in its context, and may store a value under it. If its process dies, the fleet goes on.
func TestOpenARunThatStoresAValueOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		spec := job.Spec{Name: "x", Schedule: "every 1m"}
		work := func(p *process, ctx context.Context, tick job.Tick) error {
			l.begins(tick)
			lease, _ := holdfast.FromContext(ctx)
			if err := lease.Store(ctx, []byte("my progress")); err != nil {
				t.Logf("Store: %v", err)
			}
			if l.runs == 1 {
				p.kill()
				return errDead
			}
			return nil
		}
		f.start(spec, work)
		p := f.start(spec, work)
		time.Sleep(10 * time.Minute)
		p.stop()
		f.ends.Wait()
		if l.runs < 5 {
			t.Errorf("%d runs in 10 minutes", l.runs)
		}
	})
}
