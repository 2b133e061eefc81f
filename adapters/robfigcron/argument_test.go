package robfigcron_test

import (
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/robfigcron"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/robfig/cron/v3"
)

// A job without a function is refused when it is added, and not when its tick comes.
func TestAJobNeedsAFunction(t *testing.T) {
	t.Parallel()
	c, scheduler := holdfasttest.Client(t, holdfast.Config{}), cron.New()
	if _, err := robfigcron.Add(scheduler, c, "@yearly", job.Spec{Name: "report"}, nil); !errors.Is(err, job.ErrBadSpec) || len(scheduler.Entries()) > 0 {
		t.Errorf("Add: %v, %d entries", err, len(scheduler.Entries()))
	}
	_, quiet := newLog()
	defer func() {
		if got := recover(); got != "robfigcron: Wrapper: nil Func" {
			t.Errorf("panic %v", got)
		}
	}()
	wrap(t, c, quiet).Then(robfigcron.Func(nil))
}
