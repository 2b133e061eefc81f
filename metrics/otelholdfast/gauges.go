package otelholdfast

import (
	"context"

	"go.opentelemetry.io/otel/metric"
)

// gauges makes the instruments whose values are read from the clients.
func (i *instruments) gauges(m *Metrics) metric.Registration {
	count := func(name, unit, what string) metric.Int64ObservableUpDownCounter {
		c, err := i.meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(what))
		i.note(err)
		return c
	}
	flag := func(name, what string) metric.Int64ObservableGauge {
		g, err := i.meter.Int64ObservableGauge(name, metric.WithUnit("1"), metric.WithDescription(what))
		i.note(err)
		return g
	}
	seconds := func(name, what string) metric.Float64ObservableGauge {
		g, err := i.meter.Float64ObservableGauge(name, metric.WithUnit("s"), metric.WithDescription(what))
		i.note(err)
		return g
	}
	waiters := count("holdfast.lock.waiters", "{call}", "Calls that wait for a lock now.")
	holders := count("holdfast.lock.holders", "{lease}", "Leases that the process has now.")
	pending := count("holdfast.node.releases.pending", "{release}", "Releases that the node could not get yet.")
	up := flag("holdfast.node.up", "1 if the node answers.")
	votes := flag("holdfast.node.votes", "1 if the node votes.")
	misfit := flag("holdfast.node.misconfigured", "1 if the node refuses the settings or the list of nodes of the process.")
	offset := seconds("holdfast.node.clock.offset", "The clock of the node less the clock of the majority.")
	trip := seconds("holdfast.node.round_trip.duration", "The last measured round trip to the node.")
	leads := flag("holdfast.node.master", "1 for the present master of a shard of a Redis Cluster.")
	window := seconds("holdfast.window", "How far the clocks of the nodes may be from each other.")
	delay := seconds("holdfast.process.delay", "How long a goroutine of the process waited for a processor, while the process has a lease.")
	if i.err != nil {
		return nil
	}
	r, err := i.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		r := m.clients.Read(ctx)
		for g, n := range r.Waiters {
			o.ObserveInt64(waiters, int64(n), metric.WithAttributes(group.String(g)))
		}
		for g, n := range r.Holders {
			o.ObserveInt64(holders, int64(n), metric.WithAttributes(group.String(g)))
		}
		for cluster, w := range r.Windows {
			o.ObserveFloat64(window, w.Seconds(), metric.WithAttributes(inSet.String(cluster)))
		}
		o.ObserveFloat64(delay, r.Delay.Seconds())
		for _, n := range r.Nodes {
			of := metric.WithAttributes(server(n.Cluster, n.Addr)...)
			if n.Known {
				o.ObserveInt64(up, one(n.Up), of)
				o.ObserveInt64(votes, one(n.Votes), of)
				o.ObserveInt64(misfit, one(n.Misfit), of)
			}
			if n.OffsetKnown {
				o.ObserveFloat64(offset, n.Offset.Seconds(), of)
			}
			if n.RoundTrip > 0 {
				o.ObserveFloat64(trip, n.RoundTrip.Seconds(), of)
			}
			if n.Master != "" {
				o.ObserveInt64(leads, 1, metric.WithAttributes(append(server(n.Cluster, n.Addr), inMaster.String(n.Master))...))
			}
			o.ObserveInt64(pending, int64(n.Pending), of)
		}
		return nil
	}, waiters, holders, pending, up, votes, misfit, offset, trip, leads, window, delay)
	i.note(err)
	return r
}

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
