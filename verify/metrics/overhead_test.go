package check

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/metrics/otelholdfast"
	"github.com/holdfast-go/holdfast/metrics/promholdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

var (
	rounds  = flag.Int("overhead.rounds", 1, "how often TestWhatObserversCost measures each observer")
	slice   = flag.Duration("overhead.slice", 200*time.Millisecond, "how long it measures an observer at a time")
	only    = flag.String("overhead.only", "", "it measures only this observer")
	profile = flag.String("overhead.profile", "", "it writes a profile of the CPU into this file")
)

// spans counts the ended spans, and drops them.
type spans struct{ n atomic.Int64 }

func (s *spans) ExportSpans(_ context.Context, list []trace.ReadOnlySpan) error {
	s.n.Add(int64(len(list)))
	return nil
}

func (*spans) Shutdown(context.Context) error { return nil }

// observed is a client with observers. The usual settings of the libraries apply: every span is recorded, and goes
// through the batch processor to an exporter.
type observed struct {
	name   string
	client *holdfast.Client
	missed *atomic.Int64
	spans  *spans // nil without traces

	cycles, cpu, objects []float64 // by round: ns per cycle, ns of CPU per cycle, objects per cycle
}

// A program with 64 goroutines locks and unlocks names, each its own, on one node: without observers, with metrics for
// Prometheus, and with metrics and traces for OpenTelemetry. They take turns. The output has the form of go test
// -bench:
//
//	go test -run TestWhatObserversCost -overhead.rounds 7 -overhead.slice 3s | benchstat -col /observers -
func TestWhatObserversCost(t *testing.T) {
	servers := redistest.StartN(t, 1)
	prom, err := promholdfast.New(promholdfast.Options{})
	if err != nil {
		t.Fatal(err)
	}
	prometheus.NewPedanticRegistry().MustRegister(prom)
	reader := metric.NewManualReader()
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	metrics, err := otelholdfast.NewMetrics(otelholdfast.MetricsOptions{MeterProvider: meters})
	if err != nil {
		t.Fatal(err)
	}
	exported := &spans{}
	tracers := trace.NewTracerProvider(trace.WithBatcher(exported), trace.WithSampler(trace.AlwaysSample()))
	t.Cleanup(func() { _ = tracers.Shutdown(context.Background()) })
	traces := otelholdfast.NewTraces(otelholdfast.TracesOptions{TracerProvider: tracers})

	all := []*observed{
		{name: "none"},
		{name: "nothing"}, // an observer that does nothing: the cost of the events alone
		{name: "prometheus"},
		{name: "otel-metrics"},
		{name: "otel", spans: exported},
	}
	for i, list := range [][]holdfast.Observer{
		nil,
		{{Kinds: prom.Observer().Kinds, Observe: func(*holdfast.Event) {}}},
		{prom.Observer()},
		{metrics.Observer()},
		{metrics.Observer(), traces.Observer()},
	} {
		all[i].open(t, servers[0].URL(), list...)
	}
	admin.Trust(t.Context(), all[0].client)
	redistest.Eventually(t, 15*time.Second, "the node to vote", func() bool { return admin.Nodes(t.Context(), all[0].client)[0].Votes() })
	if *only != "" {
		all = slices.DeleteFunc(all, func(o *observed) bool { return o.name != *only })
	}
	if *profile != "" {
		file, err := os.Create(*profile)
		if err != nil {
			t.Fatal(err)
		}
		if err := pprof.StartCPUProfile(file); err != nil {
			t.Fatal(err)
		}
		defer pprof.StopCPUProfile()
	}
	for round := range *rounds {
		for k := range all {
			all[(k+round)%len(all)].measure(t, *slice)
		}
	}
	for _, o := range all {
		fmt.Printf("# %s: median CPU per cycle %.2f times none's; %d events missed", o.name, ratio(o.cpu, all[0].cpu), o.missed.Load())
		if o.spans != nil {
			fmt.Printf("; %d spans exported", o.spans.n.Load())
			if o.spans.n.Load() == 0 {
				t.Error("no span was exported")
			}
		}
		fmt.Println()
	}
}

// open opens a client with observers, and counts the events that they miss.
func (o *observed) open(t *testing.T, url string, observers ...holdfast.Observer) {
	t.Helper()
	o.missed = &atomic.Int64{}
	for i := range observers {
		observe := observers[i].Observe
		observers[i].Observe = func(e *holdfast.Event) {
			if e.Kind == holdfast.EventMissed {
				o.missed.Add(int64(e.Missed))
			}
			observe(e)
		}
	}
	nodes, err := rueidisnode.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	if o.client, err = holdfast.New(holdfast.Config{Nodes: nodes, Observers: observers}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.client.Close() })
}

// measure works for a while and prints a line.
func (o *observed) measure(t *testing.T, slice time.Duration) {
	const goroutines = 64
	ctx, stop := context.WithTimeout(t.Context(), slice)
	defer stop()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, cpu := time.Now(), ownCPU()
	var cycles atomic.Int64
	var wait sync.WaitGroup
	for g := range goroutines {
		m := o.client.Mutex(fmt.Sprint(o.name, g))
		wait.Go(func() {
			for ctx.Err() == nil {
				l, err := m.Lock(t.Context())
				if err == nil {
					err = l.Unlock(t.Context())
				}
				if err != nil {
					t.Error(err)
					return
				}
				cycles.Add(1)
			}
		})
	}
	wait.Wait()
	n := float64(cycles.Load())
	took, used := float64(time.Since(began)), float64(ownCPU()-cpu)
	runtime.ReadMemStats(&after)
	objects := float64(after.Mallocs - before.Mallocs)
	o.cycles, o.cpu, o.objects = append(o.cycles, took/n), append(o.cpu, used/n), append(o.objects, objects/n)
	fmt.Printf("BenchmarkCycle/observers=%s \t%8.0f\t%8.0f ns/op\t%8.0f cpu-ns/op\t%6.1f allocs/op\n", o.name, n, took/n, used/n, objects/n)
}

// ratio returns the median of a/b by round.
func ratio(a, b []float64) float64 {
	var list []float64
	for i := range min(len(a), len(b)) {
		list = append(list, a[i]/b[i])
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// ownCPU returns the CPU time that this process has used.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
