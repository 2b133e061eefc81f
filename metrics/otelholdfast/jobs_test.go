package otelholdfast

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
)

// A process shows the jobs that it runs, and with AllJobs all jobs, whichever process ran them.
func TestJobsAreShown(t *testing.T) {
	t.Parallel()
	servers := start(t, 3)
	other := open(t, servers)
	own, all := newMeter(t, MetricsOptions{}), newMeter(t, MetricsOptions{AllJobs: true})
	c, d := open(t, servers, own.Observer()), open(t, servers, all.Observer())
	for name, result := range map[string]error{"failed": errors.New("no"), "done": nil} {
		ran, err := (job.Spec{Name: name, Schedule: "every 24h"}).Once(t.Context(), other, time.Now().Truncate(24*time.Hour),
			func(context.Context, job.Tick) error { return result })
		if !ran {
			t.Fatalf("job %s did not run: %v", name, err)
		}
	}
	if err := own.SetJobs(c, job.Spec{Name: "failed"}, job.Spec{Name: "new"}); err != nil {
		t.Fatal(err)
	}
	if err := own.SetJobs(c, job.Spec{Name: "x", Schedule: "at noon"}); err == nil {
		t.Error("a bad schedule is no error")
	}
	failed, fresh, done := jobName.String("failed"), jobName.String("new"), jobName.String("done")
	for series, want := range map[string]float64{"last_failed": 1, "never_ran": 0, "paused": 0, "last_success.time": 0, "ticks.missed": 0, "retries": 0} {
		if got := own.value("holdfast.job."+series, failed, inSet.String("test")); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
	if got := own.value("holdfast.job.runs", failed, result.String("crashed")); got != 0 {
		t.Errorf("%v runs crashed, want 0", got)
	}
	if got := own.value("holdfast.job.last_failure.time", failed); math.Abs(got-unix(time.Now())) > 600 {
		t.Errorf("the last failure is %v", got)
	}
	if got := own.value("holdfast.job.never_ran", fresh); got != 1 {
		t.Errorf("never_ran of a job that never ran is %v", got)
	}
	if got := own.value("holdfast.job.never_ran", done); !math.IsNaN(got) {
		t.Errorf("a job of other processes is shown: %v", got)
	}
	redistest.Eventually(t, 30*time.Second, "all jobs", func() bool {
		return all.value("holdfast.job.last_success.time", done) > 0 && all.value("holdfast.job.last_failed", failed) == 1
	})
	d.Close()
	redistest.Eventually(t, 10*time.Second, "the end of the client", func() bool { return math.IsNaN(all.value("holdfast.job.never_ran", done)) })
	if err := own.Close(); err != nil || !math.IsNaN(own.value("holdfast.job.never_ran", failed)) {
		t.Errorf("jobs are shown after Close: %v", err)
	}
}
