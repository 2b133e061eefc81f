package otelholdfast

import (
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast"
)

// mostHolds is the number of holds that have an open span. Holds beyond that have no span.
const mostHolds = 10000

// TracesOptions are the settings of a [Traces]. The zero value works.
type TracesOptions struct {
	// TracerProvider makes the spans. Defaults to the global one.
	TracerProvider trace.TracerProvider
}

// Traces makes a span for each wait and for each hold. It is safe for concurrent use.
//
// At most 10,000 holds of a process have an open span. If a client had to drop events because the process was too busy,
// the open holds of that client end with the outcome "unknown".
type Traces struct {
	tracer trace.Tracer

	mu    sync.Mutex
	holds map[lease]hold
}

// asClient marks the span of a call to other processes.
var asClient = trace.WithSpanKind(trace.SpanKindClient)

// lease identifies a lease of a client.
type lease struct {
	client *holdfast.Client
	id     string
}

// hold is an open span, and its attribute with the fencing token.
type hold struct {
	trace.Span
	fence int64
}

// NewTraces returns a Traces. Pass [Traces.Observer] to each client.
func NewTraces(o TracesOptions) *Traces {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	return &Traces{tracer: o.TracerProvider.Tracer(scope), holds: map[lease]hold{}}
}

// Observer returns the observer for [holdfast.Config.Observers]. Several clients may have it.
func (t *Traces) Observer() holdfast.Observer {
	return holdfast.Observer{
		Kinds: []holdfast.EventKind{
			holdfast.EventAcquired, holdfast.EventRefused, holdfast.EventReleased, holdfast.EventLost,
		},
		Observe: t.observe,
	}
}

func (t *Traces) observe(e *holdfast.Event) {
	switch e.Kind {
	case holdfast.EventAcquired:
		wait := t.wait(e, fence.Int64(e.Fence), outcome.String("acquired"))
		wait.End(trace.WithTimestamp(e.Time))
		if !e.Joined {
			t.hold(e, wait.SpanContext())
		}
	case holdfast.EventRefused:
		wait := t.wait(e, outcome.String("refused"), reason.String(string(e.Code)))
		if e.Code == holdfast.CodeUnavailable || e.Code == holdfast.CodeOther {
			failed(wait, e)
		}
		wait.End(trace.WithTimestamp(e.Time))
	case holdfast.EventReleased:
		t.end(e, outcome.String("released"))
	case holdfast.EventLost:
		t.end(e, outcome.String("lost"), cause.String(string(e.Code)))
	case holdfast.EventMissed, holdfast.EventClosed:
		t.endAll(e.Client, e.Time)
	}
}

// wait starts the span of a call that has ended.
func (t *Traces) wait(e *holdfast.Event, attrs ...attribute.KeyValue) trace.Span {
	attrs = append(attrs, named(e))
	_, span := t.tracer.Start(e.Context, "holdfast wait", asClient,
		trace.WithTimestamp(e.Time.Add(-e.Took)), trace.WithAttributes(attrs...))
	return span
}

// hold starts the span of a new lease.
func (t *Traces) hold(e *holdfast.Event, wait trace.SpanContext) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.holds) >= mostHolds {
		return
	}
	_, span := t.tracer.Start(e.Context, "holdfast hold", trace.WithTimestamp(e.Time),
		trace.WithLinks(trace.Link{SpanContext: wait}), trace.WithAttributes(named(e), fence.Int64(e.Fence)))
	t.holds[lease{e.Client, e.Lease}] = hold{span, e.Fence}
}

// end ends the span of a lease. It does nothing if the lease has no span.
func (t *Traces) end(e *holdfast.Event, attrs ...attribute.KeyValue) {
	key := lease{e.Client, e.Lease}
	t.mu.Lock()
	span := t.holds[key]
	delete(t.holds, key)
	t.mu.Unlock()
	if span.Span == nil {
		return
	}
	if e.Fence != span.fence { // a downgrade raises the token
		attrs = append(attrs, fence.Int64(e.Fence))
	}
	span.SetAttributes(attrs...)
	if e.Kind == holdfast.EventLost {
		failed(span, e)
	}
	span.End(trace.WithTimestamp(e.Time))
}

// endAll ends the open spans of a client, because their ends are not known.
func (t *Traces) endAll(c *holdfast.Client, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, span := range t.holds {
		if key.client == c {
			span.SetAttributes(outcome.String("unknown"))
			span.End(trace.WithTimestamp(at))
			delete(t.holds, key)
		}
	}
}

// failed gives a span the status Error.
func failed(span trace.Span, e *holdfast.Event) {
	span.SetAttributes(errorType.String(string(e.Code)))
	span.SetStatus(codes.Error, valid(e.Err.Error()))
}

// named returns the attribute with the name of the lock.
func named(e *holdfast.Event) attribute.KeyValue { return name.String(valid(e.Name)) }

// valid makes text valid UTF-8. A name may have any bytes, and an exporter would drop all spans of a batch with it.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
