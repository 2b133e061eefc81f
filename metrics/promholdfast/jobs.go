package promholdfast

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

var (
	jobSuccess  = ofJob("last_success_timestamp_seconds", "End of the last run that was done; 0 if there was none.")
	jobFailure  = ofJob("last_failure_timestamp_seconds", "End of the last run that failed or crashed; 0 if there was none.")
	jobNext     = ofJob("next_timestamp_seconds", "Next tick; 0 if it is not known.")
	jobDuration = ofJob("last_duration_seconds", "Duration of the last run that was done, or else of the last run; 0 if it is not known.")
	jobOverdue  = ofJob("overdue_seconds", "Time since the next tick became due; 0 if it is not due, or the job runs or is paused.")
	jobRunning  = ofJob("running_seconds", "Time since the present run began; 0 if the job does not run.")
	jobPaused   = ofJob("paused", "1 if an operator has paused the job.")
	jobFailed   = ofJob("last_failed", "1 if the last run failed or crashed, and no retry is pending.")
	jobNeverRan = ofJob("never_ran", "1 if a process has the job and the nodes know no run of it.")
	jobMissed   = ofJob("missed_ticks_total", "Ticks that no process ran.")
	jobRetries  = ofJob("retries_total", "Attempts that failed and were repeated.")
	jobRuns     = ofJob("runs_total", "Runs that ended, by result.", "result")

	jobDescs = []*prometheus.Desc{
		jobSuccess, jobFailure, jobNext, jobDuration, jobOverdue, jobRunning, jobPaused, jobFailed, jobNeverRan, jobMissed, jobRetries, jobRuns,
	}
	results = []job.State{job.Done, job.Failed, job.Crashed, job.Interrupted}
)

func ofJob(name, help string, labels ...string) *prometheus.Desc {
	return gauge("job_"+name, help, append([]string{"cluster", "name"}, labels...)...)
}

// SetJobs states which jobs the process runs through a client, and makes the metrics of these jobs. It replaces the jobs
// of an earlier call for this client. The client must have [Metrics.Observer]. A job that the nodes do not know has
// holdfast_job_never_ran 1. The error is that of [job.ParseSchedule] for a bad Schedule.
func (m *Metrics) SetJobs(client *holdfast.Client, specs ...job.Spec) error {
	return m.jobs.Set(client, specs...)
}

// observeJobs keeps the list of clients whose jobs are read.
func (m *Metrics) observeJobs(e *holdfast.Event) {
	switch {
	case e.Kind == holdfast.EventClosed:
		m.jobs.Drop(e.Client)
	case m.jobs.All:
		m.jobs.Add(e.Client)
	}
}

// JobCollector returns a collector of the metrics of these jobs, for programs that read jobs by themselves. For each pair
// of cluster and name, the first job counts.
func JobCollector(jobs ...jobmetrics.Job) prometheus.Collector { return jobCollector(jobs) }

type jobCollector []jobmetrics.Job

// Describe implements [prometheus.Collector].
func (jobCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range jobDescs {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c jobCollector) Collect(ch chan<- prometheus.Metric) {
	type key struct{ cluster, name string }
	seen := map[key]bool{}
	for _, j := range c {
		k := key{j.Cluster, strings.ToValidUTF8(j.Name, "\uFFFD")} // a label has no other text, so two names may have one label
		if seen[k] {
			continue
		}
		seen[k] = true
		send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(d, kind, v, append([]string{k.cluster, k.name}, labels...)...)
		}
		send(jobSuccess, prometheus.GaugeValue, unix(j.Success))
		send(jobFailure, prometheus.GaugeValue, unix(j.Failure))
		send(jobNext, prometheus.GaugeValue, unix(j.Next))
		send(jobDuration, prometheus.GaugeValue, j.Took.Seconds())
		send(jobOverdue, prometheus.GaugeValue, j.Overdue.Seconds())
		send(jobRunning, prometheus.GaugeValue, j.Running.Seconds())
		send(jobPaused, prometheus.GaugeValue, one(j.Paused))
		send(jobFailed, prometheus.GaugeValue, one(j.Failed))
		send(jobNeverRan, prometheus.GaugeValue, one(j.NeverRan))
		send(jobMissed, prometheus.CounterValue, float64(j.Missed))
		send(jobRetries, prometheus.CounterValue, float64(j.Retries))
		for _, result := range results {
			send(jobRuns, prometheus.CounterValue, float64(j.Runs[result]), string(result))
		}
	}
}

func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
