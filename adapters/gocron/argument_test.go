package holdfastgocron_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast"
	holdfastgocron "github.com/holdfast-go/holdfast/adapters/gocron"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/job"
)

// A job without a function is refused when it is added, and not when its tick comes.
func TestAJobNeedsAFunction(t *testing.T) {
	t.Parallel()
	c := holdfasttest.Client(t, holdfast.Config{})
	l := newLocker(t, c, job.Spec{Name: "report", Schedule: "@yearly"})
	if _, err := l.NewJob(begin(t), "report", nil); !errors.Is(err, job.ErrBadSpec) {
		t.Errorf("NewJob: %v", err)
	}
	e := holdfastgocron.NewElector(c, "reports")
	defer e.Close()
	for want, task := range map[string]func(){
		`holdfastgocron: Locker.Task "report": nil function`: func() { l.Task("report", nil) },
		"holdfastgocron: Elector.Task: nil function":         func() { e.Task((func(context.Context) error)(nil)) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v; want %s", got, want)
				}
			}()
			task()
		}()
	}
}
