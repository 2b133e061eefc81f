package exporter

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

var waitDesc = prometheus.NewDesc("holdfast_longest_wait_seconds",
	"How long the first waiter of the lock has waited; only of the longest waits.", []string{"cluster", "name"}, nil)

// Wait is a lock for which somebody waits.
type Wait struct {
	Name    string
	Seconds float64 // since the first waiter came
}

// Waits is the collector of long waits.
type Waits struct {
	Cluster string
	// Longest returns the locks with the longest waits. Their names are labels, so it returns only few of them.
	Longest func(ctx context.Context) []Wait
}

// Describe implements [prometheus.Collector].
func (*Waits) Describe(ch chan<- *prometheus.Desc) { ch <- waitDesc }

// Collect implements [prometheus.Collector].
func (w *Waits) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	seen := map[string]bool{}
	for _, one := range w.Longest(ctx) {
		if name := valid(one.Name); !seen[name] { // as for elections
			seen[name] = true
			ch <- prometheus.MustNewConstMetric(waitDesc, prometheus.GaugeValue, one.Seconds, w.Cluster, name)
		}
	}
}
