package otelholdfast

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
	"github.com/holdfast-go/holdfast/metrics/internal/gauges"
)

// scope is the name of the instrumentation scope.
const scope = "github.com/holdfast-go/holdfast/metrics/otelholdfast"

// MetricsOptions are the settings of a [Metrics]. The zero value works.
type MetricsOptions struct {
	// MeterProvider makes the instruments. Defaults to the global one.
	MeterProvider metric.MeterProvider

	// Group maps the name of a lock, without [holdfast.Config.Prefix], to the value of holdfast.lock.group. It must
	// return the same group for the same name, and be safe for concurrent use. A name for which it returns "" or panics
	// has the group "other". Values are cut to 128 bytes. Defaults to the group "all" for every name.
	Group func(name string) string

	// MaxGroups is the largest number of groups, beside "other". Later groups become "other". From 1 to 1,000. Defaults
	// to 20.
	MaxGroups int

	// Passive keeps a collection from asking the nodes. The metrics of nodes then show what the clients saw when they
	// last used the nodes. Jobs are read all the same. Defaults to false.
	Passive bool

	// AllJobs makes metrics of all jobs that the nodes know, and not only of those of [Metrics.SetJobs]. A collection then
	// reads all keys of the nodes, at most once in ten seconds. So set it in one or two processes of a fleet only.
	// Defaults to false.
	AllJobs bool
}

// Metrics has the instruments. It is safe for concurrent use.
type Metrics struct {
	groups  *gauges.Groups
	labels  labels
	clients gauges.Clients
	jobs    jobmetrics.Reader
	stop    []metric.Registration

	wait, hold, margin                                                     metric.Float64Histogram
	acquired, refused, lost, renewals, unconfirmed, dropped, missed, stops metric.Int64Counter
}

// NewMetrics makes the instruments. Pass [Metrics.Observer] to each client. An error names the field, its value and its
// bound, or is that of the MeterProvider.
func NewMetrics(o MetricsOptions) (*Metrics, error) {
	groups, err := gauges.NewGroups(o.Group, o.MaxGroups, nil)
	if err != nil {
		return nil, fmt.Errorf("otelholdfast: MetricsOptions.%w", err)
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	in := &instruments{meter: o.MeterProvider.Meter(scope)}
	m := &Metrics{
		groups: groups, clients: gauges.Clients{Groups: groups, Passive: o.Passive},
		wait:        in.histogram("holdfast.lock.wait.duration", "Time from the call that takes a lock to its end.", waitBounds),
		hold:        in.histogram("holdfast.lock.hold.duration", "Time from the lock to its release or loss.", waitBounds),
		margin:      in.histogram("holdfast.lease.renewal.margin", "Time left until the deadline when a renewal succeeded.", marginBounds),
		acquired:    in.counter("holdfast.lock.acquired", "{call}", "Calls that got a lock."),
		refused:     in.counter("holdfast.lock.refused", "{call}", "Calls that got no lock."),
		lost:        in.counter("holdfast.lease.lost", "{lease}", "Leases that were lost."),
		renewals:    in.counter("holdfast.lease.renewals", "{renewal}", "Renewals that a majority confirmed."),
		unconfirmed: in.counter("holdfast.lease.unconfirmed", "{release}", "Releases after the work that too few nodes confirmed."),
		dropped:     in.counter("holdfast.lease.dropped", "{lease}", "Leases that became garbage without Unlock."),
		missed:      in.counter("holdfast.events.missed", "{event}", "Events that were dropped because the process was too busy."),
		stops:       in.counter("holdfast.node.stops", "{stop}", "How often a node stopped voting or had another reason not to vote."),
	}
	m.jobs.All = o.AllJobs
	m.stop = []metric.Registration{in.gauges(m), in.ofJobs(m)}
	if in.err != nil {
		return nil, fmt.Errorf("otelholdfast: %w", in.err)
	}
	return m, nil
}

// Close ends the reading of the gauges. It returns the error of the MeterProvider.
func (m *Metrics) Close() error {
	var all error
	for _, r := range m.stop {
		all = errors.Join(all, r.Unregister())
	}
	return all
}

var (
	waitBounds   = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}
	marginBounds = []float64{.05, .1, .25, .5, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 60, 300, 900}
)

// instruments makes instruments, and keeps the errors.
type instruments struct {
	meter metric.Meter
	err   error
}

func (i *instruments) note(err error) { i.err = errors.Join(i.err, err) }

func (i *instruments) histogram(name, what string, bounds []float64) metric.Float64Histogram {
	h, err := i.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(bounds...))
	i.note(err)
	return h
}

func (i *instruments) counter(name, unit, what string) metric.Int64Counter {
	c, err := i.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(what))
	i.note(err)
	return c
}

// Observer returns the observer for [holdfast.Config.Observers]. Several clients may have it.
func (m *Metrics) Observer() holdfast.Observer {
	return holdfast.Observer{
		Kinds: []holdfast.EventKind{
			holdfast.EventAcquired, holdfast.EventRefused, holdfast.EventRenewed, holdfast.EventReleased, holdfast.EventLost,
			holdfast.EventUnconfirmed, holdfast.EventDropped, holdfast.EventNode,
		},
		Observe: m.observe,
	}
}

// lasting has the values of a context and does not end. context.WithoutCancel is slower, because it allocates for each
// value.
type lasting struct{ context.Context }

func (lasting) Deadline() (at time.Time, ok bool) { return time.Time{}, false }
func (lasting) Done() <-chan struct{}             { return nil }
func (lasting) Err() error                        { return nil }

func (m *Metrics) observe(e *holdfast.Event) {
	ctx := context.Background()
	switch e.Kind {
	case holdfast.EventOpened, holdfast.EventClosed:
		m.clients.Observe(e)
		m.observeJobs(e)
		return
	case holdfast.EventMissed:
		m.missed.Add(ctx, int64(e.Missed))
		return
	case holdfast.EventNode:
		if !e.Node.Votes() {
			cluster, addr := m.clients.NodeOf(e)
			m.stops.Add(ctx, 1, metric.WithAttributes(append(server(cluster, addr), reason.String(e.Node.Reason.String()))...))
		}
		return
	}
	// A call has its own context, which may have ended. It is passed on for exemplars.
	if e.Context != nil {
		ctx = lasting{e.Context}
	}
	of := m.labels.of(m.groups.Of(e.Name))
	switch e.Kind {
	case holdfast.EventAcquired:
		m.acquired.Add(ctx, 1, of.only.add...)
		m.wait.Record(ctx, e.Took.Seconds(), of.acquired.record...)
	case holdfast.EventRefused:
		m.refused.Add(ctx, 1, of.with(reason, e.Code).add...)
		m.wait.Record(ctx, e.Took.Seconds(), of.refused.record...)
	case holdfast.EventRenewed:
		m.renewals.Add(ctx, 1, of.only.add...)
		m.margin.Record(ctx, e.Margin.Seconds(), of.only.record...)
	case holdfast.EventReleased:
		m.hold.Record(ctx, e.Held.Seconds(), of.released.record...)
	case holdfast.EventLost:
		m.lost.Add(ctx, 1, of.with(cause, e.Code).add...)
		m.hold.Record(ctx, e.Held.Seconds(), of.lost.record...)
	case holdfast.EventUnconfirmed:
		m.unconfirmed.Add(ctx, 1, of.only.add...)
	case holdfast.EventDropped:
		m.dropped.Add(ctx, 1, of.only.add...)
	}
}
