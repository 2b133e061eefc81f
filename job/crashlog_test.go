package job_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A crash is reported, also if the next tick has come meanwhile.
func TestACrashBeforeANextTickIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, log := newFleet(t, 3), &records{}
		spec := job.Spec{Name: "x", Schedule: "every 1s", Logger: slog.New(slog.NewTextHandler(log, nil))}
		killed := false
		work := func(p *process, ctx context.Context, _ job.Tick) error {
			if !killed {
				killed = true
				p.kill()
				return errDead
			}
			return nil
		}
		f.start(spec, work)
		time.Sleep(1500 * time.Millisecond)
		p := f.start(spec, work)
		time.Sleep(10 * time.Second)
		p.stop()
		f.ends.Wait()
		if n := log.count("job crashed"); !killed || n != 1 {
			t.Errorf("killed: %t, %d reports", killed, n)
		}
	})
}
