package otelholdfast

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// The keys of the attributes of jobs.
const (
	jobName = attribute.Key("holdfast.job.name")
	result  = attribute.Key("holdfast.job.result")
)

var results = []job.State{job.Done, job.Failed, job.Crashed, job.Interrupted}

// SetJobs states which jobs the process runs through a client, and makes the metrics of these jobs. It replaces the jobs
// of an earlier call for this client. The client must have [Metrics.Observer]. A job that the nodes do not know has
// holdfast.job.never_ran 1. The error is that of [job.ParseSchedule] for a bad Schedule.
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

// ofJobs makes the instruments whose values are read from the jobs.
func (i *instruments) ofJobs(m *Metrics) metric.Registration {
	var all []metric.Observable
	type reading struct {
		of  metric.Float64Observable
		get func(jobmetrics.Job) float64
	}
	var readings []reading
	gauge := func(name, unit, what string, get func(jobmetrics.Job) float64) {
		g, err := i.meter.Float64ObservableGauge("holdfast.job."+name, metric.WithUnit(unit), metric.WithDescription(what))
		i.note(err)
		readings, all = append(readings, reading{g, get}), append(all, g)
	}
	counter := func(name, unit, what string) metric.Int64ObservableCounter {
		c, err := i.meter.Int64ObservableCounter("holdfast.job."+name, metric.WithUnit(unit), metric.WithDescription(what))
		i.note(err)
		all = append(all, c)
		return c
	}
	gauge("last_success.time", "s", "End of the last run that was done, in seconds since 1970; 0 if there was none.", func(j jobmetrics.Job) float64 { return unix(j.Success) })
	gauge("last_failure.time", "s", "End of the last run that failed or crashed; 0 if there was none.", func(j jobmetrics.Job) float64 { return unix(j.Failure) })
	gauge("next.time", "s", "Next tick; 0 if it is not known.", func(j jobmetrics.Job) float64 { return unix(j.Next) })
	gauge("last.duration", "s", "Duration of the last run that was done, or else of the last run; 0 if it is not known.", func(j jobmetrics.Job) float64 { return j.Took.Seconds() })
	gauge("overdue", "s", "Time since the next tick became due; 0 if it is not due, or the job runs or is paused.", func(j jobmetrics.Job) float64 { return j.Overdue.Seconds() })
	gauge("running", "s", "Time since the present run began; 0 if the job does not run.", func(j jobmetrics.Job) float64 { return j.Running.Seconds() })
	gauge("paused", "1", "1 if an operator has paused the job.", func(j jobmetrics.Job) float64 { return float64(one(j.Paused)) })
	gauge("last_failed", "1", "1 if the last run failed or crashed, and no retry is pending.", func(j jobmetrics.Job) float64 { return float64(one(j.Failed)) })
	gauge("never_ran", "1", "1 if a process has the job and the nodes know no run of it.", func(j jobmetrics.Job) float64 { return float64(one(j.NeverRan)) })
	missed := counter("ticks.missed", "{tick}", "Ticks that no process ran.")
	retries := counter("retries", "{attempt}", "Attempts that failed and were repeated.")
	runs := counter("runs", "{run}", "Runs that ended.")
	if i.err != nil {
		return nil
	}
	r, err := i.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		for _, j := range m.jobs.Read(ctx) {
			attrs := []attribute.KeyValue{inSet.String(j.Cluster), jobName.String(strings.ToValidUTF8(j.Name, "\uFFFD"))}
			of := metric.WithAttributes(attrs...)
			for _, g := range readings {
				o.ObserveFloat64(g.of, g.get(j), of)
			}
			o.ObserveInt64(missed, int64(j.Missed), of)
			o.ObserveInt64(retries, int64(j.Retries), of)
			for _, s := range results {
				o.ObserveInt64(runs, int64(j.Runs[s]), metric.WithAttributes(append(attrs, result.String(string(s)))...))
			}
		}
		return nil
	}, all...)
	i.note(err)
	return r
}

func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
