package job_test

import (
	"context"
	"errors"
	"strings"
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

// A call with a nil context says so, and takes no tick.
func TestANilContextIsAnError(t *testing.T) {
	t.Parallel()
	c := holdfasttest.Client(t, holdfast.Config{})
	var none context.Context
	tick, spec := time.Now().Truncate(time.Minute), job.Spec{Name: "x", Schedule: "every 1h"}
	second := func(_ any, err error) error { return err }
	for call, err := range map[string]error{
		"Run":     job.Run(none, c, spec, nothing),
		"Once":    second(job.Once(none, c, "x", tick, nothing)),
		"Begin":   second(spec.Begin(none, c, tick)),
		"Last":    second(job.Last(none, c, "x")),
		"SetTick": job.SetTick(none, c, "x", tick),
	} {
		if want := `job "x": ` + call + ": nil Context"; err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
	for _, err := range []error{
		second(spec.BeginWithin(none, c, tick, time.Second)), second(job.List(none, c)), second(job.TickNear(none, c, nil)), second(job.TickAt(none, c, nil)),
	} {
		if err == nil || !strings.HasSuffix(err.Error(), ": nil Context") {
			t.Error(err)
		}
	}
	for want, until := range map[string]func(){
		"job: Func.Until: nil Context":  func() { job.Func(nothing).Until(none) },
		"job: Func.Until: nil function": func() { job.Func(nil).Until(t.Context()) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v; want %s", got, want)
				}
			}()
			until()
		}()
	}
	if last, err := job.Last(t.Context(), c, "x"); last != nil || err != nil {
		t.Errorf("a tick was taken: %+v %v", last, err)
	}
}

// nothing is the function of a job that must not run.
func nothing(context.Context, job.Tick) error { return errors.New("the job ran") }
