package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/job"
)

// A job without a function is refused before it takes a tick.
func TestAJobNeedsAFunction(t *testing.T) {
	t.Parallel()
	c := holdfasttest.Start(t, 1).Client(t, holdfast.Config{})
	if err := job.Run(t.Context(), c, job.Spec{Name: "x", Schedule: "every 1s"}, nil); !errors.Is(err, job.ErrBadSpec) {
		t.Errorf("Run: %v", err)
	}
	if ran, err := job.Once(t.Context(), c, "x", time.Now().Truncate(time.Minute), nil); ran || !errors.Is(err, job.ErrBadSpec) {
		t.Errorf("Once: %t %v", ran, err)
	}
	if last, err := job.Last(t.Context(), c, "x"); last != nil || err != nil {
		t.Errorf("a tick was taken: %+v %v", last, err)
	}
}

// nothing is the function of a job that must not run.
func nothing(context.Context, job.Tick) error { return errors.New("the job ran") }
