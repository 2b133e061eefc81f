package promholdfast

import (
	"context"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// world is a client on real servers, and its metrics.
type world struct {
	t       *testing.T
	servers []*redistest.Server
	metrics *Metrics
	client  *holdfast.Client
	reg     *prometheus.Registry
}

func newWorld(t *testing.T, n int, o Options) *world {
	t.Helper()
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, servers: redistest.StartN(t, n, redistest.Password("secret")), metrics: m, reg: prometheus.NewPedanticRegistry()}
	w.reg.MustRegister(m)
	w.client = w.open(m.Observer())
	admin.Trust(t.Context(), w.client)
	leasetest.AllVote(t, w.client, 15*time.Second)
	return w
}

func (w *world) open(observers ...holdfast.Observer) *holdfast.Client {
	w.t.Helper()
	var urls []string
	for _, s := range w.servers {
		urls = append(urls, "redis://:secret@"+s.Addr())
	}
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := holdfast.New(holdfast.Config{
		Nodes: nodes, MaxTTL: 2 * time.Second, Window: 200 * time.Millisecond, NodeTimeout: time.Second, Cluster: "test",
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Observers: observers,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

// value returns the value of a series, or the number of observations of a histogram. It returns NaN if there is none.
// labels are pairs "name=value".
func (w *world) value(name string, labels ...string) float64 {
	w.t.Helper()
	families, err := w.reg.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "holdfast_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			if matches(m, labels) {
				switch {
				case m.Histogram != nil:
					return float64(m.Histogram.GetSampleCount())
				case m.Counter != nil:
					return m.Counter.GetValue()
				}
				return m.Gauge.GetValue()
			}
		}
	}
	return math.NaN()
}

func matches(m *dto.Metric, labels []string) bool {
	for _, want := range labels {
		if !slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName()+"="+l.GetValue() == want }) {
			return false
		}
	}
	return true
}

// await waits until a series has a value of at least least.
func (w *world) await(least float64, name string, labels ...string) {
	w.t.Helper()
	redistest.Eventually(w.t, 15*time.Second, name+" "+strings.Join(labels, " "), func() bool { return w.value(name, labels...) >= least })
}

func group(name string) string { g, _, _ := strings.Cut(name, "/"); return g }

func TestLocksAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, Options{Group: group, MaxGroups: 2})
	other := w.open()
	for _, name := range []string{"a/1", "a/2", "b/1", "c/1", "d/1"} {
		l := leasetest.Lock(t, w.client, name)
		if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for g, n := range map[string]float64{"a": 2, "b": 1, "other": 2} {
		w.await(n, "hold_seconds", "group="+g)
		for _, series := range []string{"acquired_total", "hold_seconds", "wait_seconds"} {
			labels := []string{"group=" + g}
			if series == "wait_seconds" {
				labels = append(labels, "outcome=acquired")
			}
			if got := w.value(series, labels...); got != n {
				t.Errorf("%s of %s is %v, want %v", series, g, got, n)
			}
		}
		if got := w.value("lost_total", "group="+g, "cause=deadline"); got != 0 {
			t.Errorf("the counter of losses of %s begins with %v, want 0", g, got)
		}
	}
	if got := w.value("acquired_total", "group=c"); !math.IsNaN(got) {
		t.Errorf("a group beyond the limit has a series: %v", got)
	}

	held := leasetest.Lock(t, other, "a/1")
	_, _ = w.client.Mutex("a/1").TryLock(t.Context())
	w.await(1, "refused_total", "group=a", "reason=held")
	w.await(1, "wait_seconds", "group=a", "outcome=refused")
	got := make(chan *holdfast.Lease)
	go func() {
		l, err := w.client.Mutex("a/1").Lock(t.Context())
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	w.await(1, "waiters", "group=a")
	if err := held.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := <-got
	w.await(1, "holders", "group=a")
	w.await(1, "renewals_total", "group=a")
	w.await(1, "renewal_margin_seconds", "group=a")
	if got := w.value("waiters", "group=a"); got != 0 {
		t.Errorf("%v waiters, want 0", got)
	}
	if _, err := admin.Unlock(t.Context(), other, "a/1", admin.UnlockOptions{}); err != nil {
		t.Fatal(err)
	}
	<-l.Context().Done()
	w.await(1, "lost_total", "group=a", "cause=forced")
	if got := w.value("holders", "group=a"); got != 0 {
		t.Errorf("%v holders, want 0", got)
	}
}

func TestNodesAreShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, Options{})
	for _, s := range w.servers {
		node := "node=" + s.URL() + "/0"
		for _, series := range []string{"node_up", "node_votes"} {
			if got := w.value(series, node, "cluster=test"); got != 1 {
				t.Errorf("%s of %s is %v, want 1", series, node, got)
			}
		}
		if got := w.value("node_misconfigured", node); got != 0 {
			t.Errorf("%s refuses the settings: %v", node, got)
		}
		if got := w.value("node_clock_offset_seconds", node); !(math.Abs(got) < 1) {
			t.Errorf("the offset of %s is %v", node, got)
		}
		if got := w.value("node_round_trip_seconds", node); !(got > 0 && got < 5) {
			t.Errorf("the round trip of %s is %v", node, got)
		}
		if got := w.value("node_pending_releases", node); got != 0 {
			t.Errorf("the pending releases of %s are %v", node, got)
		}
	}
	if got := w.value("window_seconds", "cluster=test"); got != .2 {
		t.Errorf("the window is %v", got)
	}
	l := leasetest.Lock(t, w.client, "x")
	w.servers[1].Kill()
	if err := l.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	dead := "node=" + w.servers[1].URL() + "/0"
	w.await(1, "node_pending_releases", dead)
	redistest.Eventually(t, 15*time.Second, "the dead node", func() bool {
		return w.value("node_up", dead) == 0 && w.value("node_votes", dead) == 0
	})
	w.await(1, "node_stops_total", dead, "cluster=test")
	w.client.Close()
	if got := w.value("node_up", dead); !math.IsNaN(got) {
		t.Errorf("the nodes of a closed client have a series: %v", got)
	}
}

func TestAMissedEventIsCounted(t *testing.T) {
	t.Parallel()
	m, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.Observer().Observe(&holdfast.Event{Kind: holdfast.EventMissed, Missed: 7})
	w := &world{t: t, reg: prometheus.NewPedanticRegistry()}
	w.reg.MustRegister(m)
	if got := w.value("missed_events_total"); got != 7 {
		t.Errorf("%v missed events, want 7", got)
	}
}

// All methods may be called at once; -race checks that.
func TestManyScrapesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, Options{Group: group})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if l, err := w.client.Mutex("x").Lock(ctx); err == nil {
				_ = l.Unlock(context.Background())
			}
		}
	}()
	for range 50 {
		w.value("waiters")
	}
	cancel()
	<-done
}

func TestABadOptionIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o    Options
		says string
	}{
		{Options{MaxGroups: -1}, "promholdfast: Options.MaxGroups is -1; it must be from 1 to 1000"},
		{Options{WaitBuckets: []float64{1, 1}}, "promholdfast: Options.WaitBuckets[1] is 1; it must be above 1"},
		{Options{HoldBuckets: []float64{2, 1}}, "promholdfast: Options.HoldBuckets[1] is 1; it must be above 2"},
	} {
		if _, err := New(c.o); err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%+v: %v; want %s", c.o, err, c.says)
		}
	}
}
