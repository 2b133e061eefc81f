package promholdfast

import "github.com/holdfast-go/holdfast"

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

func (m *Metrics) observe(e *holdfast.Event) {
	switch e.Kind {
	case holdfast.EventOpened, holdfast.EventClosed:
		m.clients.Observe(e)
		m.observeJobs(e)
		return
	case holdfast.EventMissed:
		m.missed.Add(float64(e.Missed))
		return
	case holdfast.EventNode:
		if !e.Node.Votes() {
			cluster, addr := m.clients.NodeOf(e)
			m.stops.WithLabelValues(cluster, addr, e.Node.Reason.String()).Inc()
		}
		return
	}
	group := m.groups.Of(e.Name)
	switch e.Kind {
	case holdfast.EventAcquired:
		m.acquired.WithLabelValues(group).Inc()
		m.wait.WithLabelValues(group, acquired).Observe(e.Took.Seconds())
	case holdfast.EventRefused:
		m.refused.WithLabelValues(group, string(e.Code)).Inc()
		m.wait.WithLabelValues(group, refused).Observe(e.Took.Seconds())
	case holdfast.EventRenewed:
		m.renewals.WithLabelValues(group).Inc()
		m.margin.WithLabelValues(group).Observe(e.Margin.Seconds())
	case holdfast.EventReleased:
		m.hold.WithLabelValues(group).Observe(e.Held.Seconds())
	case holdfast.EventLost:
		m.lost.WithLabelValues(group, string(e.Code)).Inc()
		m.hold.WithLabelValues(group).Observe(e.Held.Seconds())
	case holdfast.EventUnconfirmed:
		m.unconfirmed.WithLabelValues(group).Inc()
	case holdfast.EventDropped:
		m.dropped.WithLabelValues(group).Inc()
	}
}
