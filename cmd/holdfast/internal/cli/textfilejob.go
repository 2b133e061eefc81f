package cli

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
	"github.com/holdfast-go/holdfast/metrics/promholdfast"
)

// This file has the metrics of the job in the file of holdfast run --tick --metrics-textfile. They come from the nodes,
// so they are those of the whole fleet at the time of the call.

const jobPrefix = "holdfast_job_"

// ofPresent are the metrics of a job that are true only at the time of a scrape. A file would show them for too long.
var ofPresent = []string{jobPrefix + "overdue_seconds", jobPrefix + "running_seconds", jobPrefix + "last_failed", jobPrefix + "never_ran"}

// noteTick notes that the run is one of --tick.
func (r *runRecord) noteTick() {
	if r != nil {
		r.ofTick = true
	}
}

// noteJob notes the state of the job. last is the outcome of the run; nil: the run was skipped, so the nodes are asked. If
// they do not answer, the state in the file stays.
func (r *runRecord) noteJob(client *holdfast.Client, last *job.Outcome) {
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var err error
	if last == nil {
		if last, err = jobmetrics.Settle(ctx, client, r.name); err != nil {
			return
		}
	}
	if r.jobKnown = true; last == nil {
		return
	}
	if j, exists := jobmetrics.Of(client.Stats().Cluster, r.name, *last, time.Now()); exists { // no metric of the present is written
		r.job = []jobmetrics.Job{j}
	}
}

// jobText returns the metrics of the job. old is the file before.
func (r *runRecord) jobText(old []byte) []byte {
	if !r.ofTick {
		return nil
	}
	families := jobFamilies(old, r.name)
	if r.jobKnown {
		reg := prometheus.NewRegistry()
		reg.MustRegister(promholdfast.JobCollector(r.job...))
		families, _ = reg.Gather() // the collector has no error
	}
	var b bytes.Buffer
	for _, f := range families {
		if !slices.Contains(ofPresent, f.GetName()) {
			_, _ = expfmt.MetricFamilyToText(&b, f) // a buffer takes everything
		}
	}
	return b.Bytes()
}

// jobFamilies returns the metrics of the job in a file, in the order of their names. It returns none if the file is the
// one of another name, or not a file of holdfast run.
func jobFamilies(file []byte, name string) []*dto.MetricFamily {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	all, err := parser.TextToMetricFamilies(bytes.NewReader(file))
	if err != nil {
		return nil
	}
	name = strings.ToValidUTF8(name, "\uFFFD")
	var list []*dto.MetricFamily
	for _, f := range all {
		own := !slices.ContainsFunc(f.GetMetric(), func(m *dto.Metric) bool {
			return !slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == "name" && l.GetValue() == name })
		})
		if own && strings.HasPrefix(f.GetName(), jobPrefix) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) })
	return list
}
