package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
)

// A run that begins another run of its own job, or sets its tick, would store its own outcome after that. The job would
// go back to an earlier tick, and a tick would run twice.
func TestARunDoesNotBeginAnotherRunOfItsJob(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.client()
	spec := job.Spec{Name: "x", Schedule: "every 1h", Missed: job.MissedOnce, Logger: quiet}
	later := time.Now().Add(-time.Hour).UTC().Truncate(time.Hour)
	earlier := later.Add(-time.Hour)
	runs := 0
	count := func(context.Context, job.Tick) error { runs++; return nil }
	bounded := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		t.Cleanup(cancel)
		return ctx
	}
	for what, inside := range map[string]func(ctx context.Context) error{
		"Once": func(ctx context.Context) error { _, err := spec.Once(ctx, c, later, count); return err },
		"Run":  func(ctx context.Context) error { return job.Run(bounded(ctx), c, spec, count) },
		"Begin": func(ctx context.Context) error {
			turn, err := spec.Begin(bounded(ctx), c, later)
			if err == nil {
				_ = turn.End(nil)
			}
			return err
		},
		"SetTick": func(ctx context.Context) error { return job.SetTick(ctx, c, "x", later) },
		"Once in a run of another job": func(ctx context.Context) (err error) {
			_, _ = job.Once(ctx, c, "y", earlier, func(ctx context.Context, _ job.Tick) error {
				_, err = spec.Once(ctx, c, later, count)
				return nil
			})
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			if err := job.SetTick(t.Context(), c, "x", earlier.Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
			if err := job.SetTick(t.Context(), c, "y", earlier.Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
			runs = 0
			var err error
			ran, outer := spec.Once(t.Context(), c, earlier, func(ctx context.Context, _ job.Tick) error { err = inside(ctx); return nil })
			if !ran || outer != nil {
				t.Fatalf("the outer run: %t, %v", ran, outer)
			}
			if !errors.Is(err, holdfast.ErrReentrant) {
				t.Errorf("inside a run: %v, want ErrReentrant", err)
			}
			if _, err := spec.Once(t.Context(), c, later, count); err != nil {
				t.Error(err)
			}
			if runs != 1 {
				t.Errorf("the tick ran %d times, want 1", runs)
			}
		})
	}
}
