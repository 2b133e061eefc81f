package otelholdfast

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/holdfast-go/holdfast"
)

// labels has the attributes of each group in the form in which instruments take them. To make them for each event
// would cost more than the rest of the event. It is safe for concurrent use.
type labels struct {
	mu     sync.RWMutex
	groups map[string]*groupLabels // there is a bounded number of groups
}

// groupLabels has the attributes of one group: the group alone, and with an outcome.
type groupLabels struct {
	group                                   attribute.KeyValue
	only, acquired, refused, released, lost options
}

// options is one set of attributes, for counters and for histograms.
type options struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

func optionsOf(attrs ...attribute.KeyValue) options {
	set := metric.WithAttributeSet(attribute.NewSet(attrs...))
	return options{[]metric.AddOption{set}, []metric.RecordOption{set}}
}

// of returns the attributes of a group.
func (l *labels) of(name string) *groupLabels {
	l.mu.RLock()
	g := l.groups[name]
	l.mu.RUnlock()
	if g != nil {
		return g
	}
	of := group.String(name)
	with := func(what string) options { return optionsOf(of, outcome.String(what)) }
	g = &groupLabels{
		group: of, only: optionsOf(of),
		acquired: with("acquired"), refused: with("refused"), released: with("released"), lost: with("lost"),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.groups == nil {
		l.groups = map[string]*groupLabels{}
	}
	l.groups[name] = g
	return g
}

// with returns the attributes of a group and of a code, which comes seldom.
func (g *groupLabels) with(key attribute.Key, code holdfast.EventCode) options {
	return optionsOf(g.group, key.String(string(code)))
}
