package holdfastgocron

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/job"
)

// A task that has repeated an earlier tick begins a turn of its own. Tasks that begin without a lock at that moment, as
// those of a scheduler without a Locker, cannot take it.
func TestATurnBelongsToTheTaskThatBeganIt(t *testing.T) {
	c := holdfasttest.Start(t, 1).Client(t, holdfast.Config{})
	for i := range 10 {
		name := fmt.Sprint("report", i)
		spec := job.Spec{Name: name, Schedule: "@yearly", OnCrash: job.CrashRetry, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
		turn, err := spec.Begin(t.Context(), c, time.Date(time.Now().Year()-1, 1, 1, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		_ = turn.End(job.ErrInterrupted)
		l, err := NewLocker(c, spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Lock(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		var over, stolen atomic.Bool
		var others sync.WaitGroup
		runs := 0
		err = l.task(t.Context(), name, func(context.Context, job.Tick) error {
			if runs++; runs > 1 {
				return nil
			}
			for range 64 { // so many that the mutex serves those who wait in their order
				others.Go(func() {
					for !over.Load() {
						if l.take(name) != nil {
							stolen.Store(true)
						}
					}
				})
			}
			return nil
		})
		over.Store(true)
		others.Wait()
		if err != nil || runs != 2 || stolen.Load() {
			t.Errorf("%d runs, %v; another task took the turn: %v", runs, err, stolen.Load())
		}
	}
}
