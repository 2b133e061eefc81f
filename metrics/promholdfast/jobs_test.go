package promholdfast

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// once runs a job for the last tick of its schedule, in another process than the one that is scraped.
func (w *world) once(name string, result error) {
	w.t.Helper()
	c := w.open()
	defer c.Close()
	ran, err := (job.Spec{Name: name, Schedule: "every 24h"}).Once(w.t.Context(), c, time.Now().Truncate(24*time.Hour),
		func(context.Context, job.Tick) error { return result })
	if !ran {
		w.t.Fatalf("job %s did not run: %v", name, err)
	}
}

// A process shows the jobs that it runs, whichever process ran them.
func TestTheJobsOfAProcessAreShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, Options{})
	w.once("own", errors.New("no"))
	w.once("foreign", nil)
	if err := w.metrics.SetJobs(w.client, job.Spec{Name: "own"}, job.Spec{Name: "new", Schedule: "every 1h"}); err != nil {
		t.Fatal(err)
	}
	own := []string{"name=own", "cluster=test"}
	for series, want := range map[string]float64{
		"last_failed": 1, "never_ran": 0, "paused": 0, "running_seconds": 0, "overdue_seconds": 0,
		"last_success_timestamp_seconds": 0, "missed_ticks_total": 0, "retries_total": 0,
	} {
		if got := w.value("job_"+series, own...); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
	if got := w.value("job_last_failure_timestamp_seconds", own...); math.Abs(got-unix(time.Now())) > 600 {
		t.Errorf("the last failure is %v", got)
	}
	if got := w.value("job_never_ran", "name=new"); got != 1 {
		t.Errorf("never_ran of a job that never ran is %v", got)
	}
	if got := w.value("job_never_ran", "name=foreign"); !math.IsNaN(got) {
		t.Errorf("a job of other processes is shown: %v", got)
	}
	if err := w.metrics.SetJobs(w.client, job.Spec{Name: "x", Schedule: "at noon"}); err == nil {
		t.Error("a bad schedule is no error")
	}
	if err := w.metrics.SetJobs(w.client); err != nil || !math.IsNaN(w.value("job_never_ran", "name=own")) {
		t.Errorf("a job that the process has no longer is shown: %v", err)
	}
}

func TestAllJobsAreShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, Options{AllJobs: true})
	w.once("a", nil)
	w.once("b", errors.New("no"))
	redistest.Eventually(t, 30*time.Second, "both jobs", func() bool { // an earlier reading counts for a while
		return w.value("job_last_success_timestamp_seconds", "name=a") > 0 && w.value("job_last_failed", "name=b") == 1
	})
	if got := w.value("job_last_failed", "name=a"); got != 0 {
		t.Errorf("a job that was done has last_failed %v", got)
	}
	w.client.Close()
	redistest.Eventually(t, 10*time.Second, "the end of the client", func() bool { return math.IsNaN(w.value("job_last_failed", "name=a")) })
}

// The names fit the conventions of Prometheus, and two names with the same label do not break a scrape.
func TestAJobCollectorIsSound(t *testing.T) {
	t.Parallel()
	c := JobCollector(
		jobmetrics.Job{Cluster: "c", Name: "a\xff", Runs: map[job.State]int{job.Done: 3, job.Crashed: 1}, Success: time.Unix(7, 5e8), Paused: true, Running: time.Minute},
		jobmetrics.Job{Cluster: "c", Name: "a\xfe"}, jobmetrics.Job{Cluster: "d", Name: "a\xfe"},
	)
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(c)
	if n := testutil.CollectAndCount(c); n != 2*(len(jobDescs)+len(results)-1) {
		t.Errorf("%d series", n)
	}
	w := &world{t: t, reg: reg}
	for series, want := range map[string]float64{"last_success_timestamp_seconds": 7.5, "paused": 1, "running_seconds": 60} {
		if got := w.value("job_"+series, "cluster=c", "name=a\uFFFD"); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
	for result, want := range map[string]float64{"done": 3, "crashed": 1, "failed": 0, "interrupted": 0} {
		if got := w.value("job_runs_total", "cluster=c", "result="+result); got != want {
			t.Errorf("%s runs: %v, want %v", result, got, want)
		}
	}
	problems, err := testutil.CollectAndLint(c)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", err, []promlint.Problem(problems))
	}
}
