package promholdfast

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
	"github.com/holdfast-go/holdfast/metrics/internal/gauges"
)

// Options are the settings of a [Metrics]. The zero value works.
type Options struct {
	// Group maps the name of a lock, without [holdfast.Config.Prefix], to the value of the label group. It must return
	// the same group for the same name, and be safe for concurrent use. A name for which it returns "" or panics has
	// the group "other". Values are cut to 128 bytes. Defaults to the group "all" for every name.
	Group func(name string) string

	// MaxGroups is the largest number of groups, beside "other". Later groups become "other". From 1 to 1,000. Defaults
	// to 20.
	MaxGroups int

	// Passive keeps a scrape from asking the nodes. The metrics of nodes then show what the clients saw when they last
	// used the nodes. Jobs are read all the same. Defaults to false.
	Passive bool

	// AllJobs makes metrics of all jobs that the nodes know, and not only of those of [Metrics.SetJobs]. A scrape then
	// reads all keys of the nodes, at most once in ten seconds. So set it in one or two processes of a fleet only.
	// Defaults to false.
	AllJobs bool

	// WaitBuckets are the upper bounds of the buckets of holdfast_wait_seconds, in seconds and in ascending order.
	// Defaults to 18 buckets from 1 ms to an hour.
	WaitBuckets []float64

	// HoldBuckets are the upper bounds of the buckets of holdfast_hold_seconds. Defaults to the same 18 buckets as
	// WaitBuckets.
	HoldBuckets []float64
}

var (
	defaultBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}
	marginBuckets  = []float64{.05, .1, .25, .5, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 60, 300, 900}
)

// Metrics collects the metrics of clients. It is a [prometheus.Collector]. It is safe for concurrent use.
type Metrics struct {
	groups  *gauges.Groups
	clients gauges.Clients
	jobs    jobmetrics.Reader

	wait, hold, margin                                             *prometheus.HistogramVec
	acquired, refused, lost, renewals, unconfirmed, dropped, stops *prometheus.CounterVec
	missed                                                         prometheus.Counter
}

// New returns the metrics. Register them once, and pass [Metrics.Observer] to each client. An error names the field,
// its value and its bound.
func New(o Options) (*Metrics, error) {
	for _, b := range []struct {
		field  string
		bounds *[]float64
	}{{"WaitBuckets", &o.WaitBuckets}, {"HoldBuckets", &o.HoldBuckets}} {
		if *b.bounds == nil {
			*b.bounds = defaultBuckets
		}
		for i, bound := range *b.bounds {
			if i > 0 && !(bound > (*b.bounds)[i-1]) {
				return nil, fmt.Errorf("promholdfast: Options.%s[%d] is %v; it must be above %v, the bound before it", b.field, i, bound, (*b.bounds)[i-1])
			}
		}
	}
	m := &Metrics{
		wait:        histogram("wait_seconds", "Seconds from the call that takes a lock to its end.", o.WaitBuckets, "group", "outcome"),
		hold:        histogram("hold_seconds", "Seconds from the lock to its release or loss.", o.HoldBuckets, "group"),
		margin:      histogram("renewal_margin_seconds", "Seconds left until the deadline of a lease when a renewal succeeded.", marginBuckets, "group"),
		acquired:    counter("acquired_total", "Calls that got a lock.", "group"),
		refused:     counter("refused_total", "Calls that got no lock, by reason.", "group", "reason"),
		lost:        counter("lost_total", "Leases that were lost, by cause.", "group", "cause"),
		renewals:    counter("renewals_total", "Renewals that a majority confirmed.", "group"),
		unconfirmed: counter("unconfirmed_releases_total", "Releases after the work that too few nodes confirmed.", "group"),
		dropped:     counter("dropped_leases_total", "Leases that became garbage without Unlock.", "group"),
		stops:       counter("node_stops_total", "How often a node stopped voting or had another reason not to vote.", "cluster", "node", "reason"),
		missed: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "holdfast", Name: "missed_events_total", Help: "Events that were dropped because the process was too busy.",
		}),
	}
	groups, err := gauges.NewGroups(o.Group, o.MaxGroups, m.begin)
	if err != nil {
		return nil, fmt.Errorf("promholdfast: Options.%w", err)
	}
	m.groups = groups
	m.clients = gauges.Clients{Groups: groups, Passive: o.Passive}
	m.jobs.All = o.AllJobs
	return m, nil
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "holdfast", Name: name, Help: help, Buckets: buckets}, labels)
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "holdfast", Name: name, Help: help}, labels)
}

// begin makes the counters of a new group. Prometheus would otherwise not see the step of a counter from nothing to 1.
func (m *Metrics) begin(group string) {
	for _, c := range []*prometheus.CounterVec{m.acquired, m.renewals, m.unconfirmed, m.dropped} {
		c.WithLabelValues(group)
	}
	for _, code := range []holdfast.EventCode{
		holdfast.CodeHeld, holdfast.CodeUnavailable, holdfast.CodeTimedOut, holdfast.CodeCancelled, holdfast.CodeClosed, holdfast.CodeOther,
	} {
		m.refused.WithLabelValues(group, string(code))
	}
	for _, code := range []holdfast.EventCode{holdfast.CodeDeadline, holdfast.CodeTaken, holdfast.CodeGone, holdfast.CodeForced, holdfast.CodeMaxHold} {
		m.lost.WithLabelValues(group, string(code))
	}
	m.wait.WithLabelValues(group, acquired)
	m.wait.WithLabelValues(group, refused)
	m.hold.WithLabelValues(group)
	m.margin.WithLabelValues(group)
}

// The outcomes of a wait.
const (
	acquired = "acquired"
	refused  = "refused"
)
