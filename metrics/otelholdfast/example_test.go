package otelholdfast_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/metrics/otelholdfast"
)

// Without a MeterProvider in its options, NewMetrics uses the global one. This program reads its metrics itself.
func ExampleNewMetrics() {
	ctx, reader := context.Background(), metric.NewManualReader()
	metrics, err := otelholdfast.NewMetrics(otelholdfast.MetricsOptions{
		MeterProvider: metric.NewMeterProvider(metric.WithReader(reader)),
		Group:         func(name string) string { group, _, _ := strings.Cut(name, "/"); return group },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer metrics.Close()
	client, err := holdfast.New(config(holdfast.Config{Observers: []holdfast.Observer{metrics.Observer()}})) // with Nodes
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Mutex("order/1").Do(ctx, func(context.Context) error { return nil }); err != nil {
		log.Print(err)
	}
	client.Close()

	var seen metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &seen); err != nil {
		log.Fatal(err)
	}
	for _, m := range seen.ScopeMetrics[0].Metrics {
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "holdfast.lock.acquired" {
			group, _ := sum.DataPoints[0].Attributes.Value("holdfast.lock.group")
			fmt.Println(m.Name, group.AsString(), sum.DataPoints[0].Value)
		}
	}
	// Output: holdfast.lock.acquired order 1
}

// Without a TracerProvider in its options, NewTraces uses the global one. This program records its spans itself.
func ExampleNewTraces() {
	spans := tracetest.NewSpanRecorder()
	traces := otelholdfast.NewTraces(otelholdfast.TracesOptions{
		TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(spans)),
	})
	client, err := holdfast.New(config(holdfast.Config{Observers: []holdfast.Observer{traces.Observer()}})) // with Nodes
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Mutex("order/1").Do(context.Background(), func(context.Context) error { return nil }); err != nil {
		log.Print(err)
	}
	client.Close()

	var names []string
	for _, s := range spans.Ended() {
		names = append(names, s.Name())
	}
	slices.Sort(names)
	fmt.Printf("%q\n", names)
	// Output: ["holdfast hold" "holdfast wait"]
}
