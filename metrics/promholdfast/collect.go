package promholdfast

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

var (
	waiters   = gauge("waiters", "Calls that wait for a lock now.", "group")
	holders   = gauge("holders", "Leases that the process has now.", "group")
	window    = gauge("window_seconds", "How far the clocks of the nodes may be from each other.", "cluster")
	delay     = gauge("process_delay_seconds", "How long a goroutine of the process waited for a processor, while the process has a lease.")
	up        = gauge("node_up", "1 if the node answers.", "cluster", "node")
	votes     = gauge("node_votes", "1 if the node votes.", "cluster", "node")
	misfit    = gauge("node_misconfigured", "1 if the node refuses the settings or the list of nodes of the process.", "cluster", "node")
	offset    = gauge("node_clock_offset_seconds", "The clock of the node less the clock of the majority.", "cluster", "node")
	roundTrip = gauge("node_round_trip_seconds", "The last measured round trip to the node.", "cluster", "node")
	master    = gauge("node_master", "1 for the present master of a shard of a Redis Cluster.", "cluster", "node", "master")
	pending   = gauge("node_pending_releases", "Releases that the node could not get yet.", "cluster", "node")
)

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("holdfast_"+name, help, labels, nil)
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.collectors() {
		c.Describe(ch)
	}
	for _, d := range []*prometheus.Desc{waiters, holders, window, delay, up, votes, misfit, offset, roundTrip, master, pending} {
		ch <- d
	}
	jobCollector{}.Describe(ch)
}

// Collect implements [prometheus.Collector]. It asks the nodes, unless [Options.Passive] is set.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	jobs := make(chan []jobmetrics.Job, 1)
	go func() { jobs <- m.jobs.Read(context.Background()) }() // beside the questions about votes
	r := m.clients.Read(context.Background())
	send := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for group, n := range r.Waiters {
		send(waiters, float64(n), group)
	}
	for group, n := range r.Holders {
		send(holders, float64(n), group)
	}
	for cluster, w := range r.Windows {
		send(window, w.Seconds(), cluster)
	}
	send(delay, r.Delay.Seconds())
	for _, n := range r.Nodes {
		if n.Known {
			send(up, one(n.Up), n.Cluster, n.Addr)
			send(votes, one(n.Votes), n.Cluster, n.Addr)
			send(misfit, one(n.Misfit), n.Cluster, n.Addr)
		}
		if n.OffsetKnown {
			send(offset, n.Offset.Seconds(), n.Cluster, n.Addr)
		}
		if n.RoundTrip > 0 {
			send(roundTrip, n.RoundTrip.Seconds(), n.Cluster, n.Addr)
		}
		if n.Master != "" {
			send(master, 1, n.Cluster, n.Addr, n.Master)
		}
		send(pending, float64(n.Pending), n.Cluster, n.Addr)
	}
	jobCollector(<-jobs).Collect(ch)
	for _, c := range m.collectors() { // after the gauges, which may begin a group
		c.Collect(ch)
	}
}

func (m *Metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		m.wait, m.hold, m.margin, m.acquired, m.refused, m.lost, m.renewals, m.unconfirmed, m.dropped, m.stops, m.missed,
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
