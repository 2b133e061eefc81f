package exporter

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	leaderDesc = prometheus.NewDesc("holdfast_election_leader", "1 if this process leads.", []string{"cluster", "name"}, nil)
	termDesc   = prometheus.NewDesc("holdfast_election_term", "Fencing token of the present term; 0 if nobody leads.", []string{"cluster", "name"}, nil)
)

// Term is the present term of an election.
type Term struct {
	Name  string
	Fence int64 // the fencing token; 0: nobody leads
}

// Elections is the collector of elections.
type Elections struct {
	Cluster string
	// Terms returns the terms of the elections that the nodes know, without those that it cannot read.
	Terms func(ctx context.Context) []Term

	own   string
	leads atomic.Bool
}

// Candidate makes the process a candidate of an election. Call it before the first collection.
func (e *Elections) Candidate(name string) { e.own = name }

// Leads states whether the process leads the election of [Elections.Candidate].
func (e *Elections) Leads(yes bool) { e.leads.Store(yes) }

// Describe implements [prometheus.Collector].
func (*Elections) Describe(ch chan<- *prometheus.Desc) {
	ch <- leaderDesc
	ch <- termDesc
}

// Collect implements [prometheus.Collector].
func (e *Elections) Collect(ch chan<- prometheus.Metric) {
	if e.own != "" {
		leads := 0.
		if e.leads.Load() {
			leads = 1
		}
		ch <- prometheus.MustNewConstMetric(leaderDesc, prometheus.GaugeValue, leads, e.Cluster, valid(e.own))
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	seen := map[string]bool{}
	for _, t := range e.Terms(ctx) {
		if name := valid(t.Name); !seen[name] { // a label is UTF-8, so two names may have one label
			seen[name] = true
			ch <- prometheus.MustNewConstMetric(termDesc, prometheus.GaugeValue, float64(t.Fence), e.Cluster, name)
		}
	}
}

func valid(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }
