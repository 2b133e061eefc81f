package exporter

import (
	"fmt"
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-go/holdfast/internal/core/printable"
)

var readyDesc = prometheus.NewDesc("holdfast_job_ready",
	"1 if this machine can run the job; 0 if it leaves the ticks to the others: /readyz has the reason.", []string{"cluster", "name"}, nil)

// Ready is the collector of the jobs that this machine can or cannot run.
type Ready struct {
	Cluster string
	// Jobs returns why this machine cannot run a job, nil if it can.
	Jobs func() map[string]error
}

// Describe implements [prometheus.Collector].
func (*Ready) Describe(ch chan<- *prometheus.Desc) { ch <- readyDesc }

// Collect implements [prometheus.Collector].
func (r *Ready) Collect(ch chan<- prometheus.Metric) {
	seen := map[string]bool{}
	for job, err := range r.Jobs() {
		name, ready := valid(job), 1.
		if err != nil {
			ready = 0
		}
		if !seen[name] { // as for elections
			seen[name] = true
			ch <- prometheus.MustNewConstMetric(readyDesc, prometheus.GaugeValue, ready, r.Cluster, name)
		}
	}
}

// Notes returns a line for each job that this machine cannot run. A nil Ready has none.
func (r *Ready) Notes() (lines []string) {
	if r == nil {
		return nil
	}
	jobs := r.Jobs()
	for _, job := range slices.Sorted(maps.Keys(jobs)) {
		if err := jobs[job]; err != nil {
			lines = append(lines, fmt.Sprintf("this machine cannot run job %q, and leaves it to the others: %s", job, printable.Text(err.Error())))
		}
	}
	return lines
}
