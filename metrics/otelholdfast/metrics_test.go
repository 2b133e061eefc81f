package otelholdfast

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// meter collects the metrics of a test.
type meter struct {
	t      *testing.T
	reader *metric.ManualReader
	*Metrics
}

func newMeter(t *testing.T, o MetricsOptions) *meter {
	t.Helper()
	reader := metric.NewManualReader()
	o.MeterProvider = metric.NewMeterProvider(metric.WithReader(reader))
	m, err := NewMetrics(o)
	if err != nil {
		t.Fatal(err)
	}
	return &meter{t, reader, m}
}

func (m *meter) collect() (list []metricdata.Metrics) {
	m.t.Helper()
	var r metricdata.ResourceMetrics
	if err := m.reader.Collect(m.t.Context(), &r); err != nil {
		m.t.Fatal(err)
	}
	for _, s := range r.ScopeMetrics {
		list = append(list, s.Metrics...)
	}
	return list
}

// value returns the value of a series, or the number of observations of a histogram. It returns NaN if there is none.
func (m *meter) value(name string, attrs ...attribute.KeyValue) float64 {
	m.t.Helper()
	for _, one := range m.collect() {
		if one.Name != name {
			continue
		}
		switch d := one.Data.(type) {
		case metricdata.Sum[int64]:
			return find(d.DataPoints, attrs)
		case metricdata.Gauge[int64]:
			return find(d.DataPoints, attrs)
		case metricdata.Gauge[float64]:
			return find(d.DataPoints, attrs)
		case metricdata.Histogram[float64]:
			for _, p := range d.DataPoints {
				if has(p.Attributes, attrs) {
					return float64(p.Count)
				}
			}
		}
	}
	return math.NaN()
}

func find[N int64 | float64](points []metricdata.DataPoint[N], attrs []attribute.KeyValue) float64 {
	for _, p := range points {
		if has(p.Attributes, attrs) {
			return float64(p.Value)
		}
	}
	return math.NaN()
}

func has(set attribute.Set, attrs []attribute.KeyValue) bool {
	for _, a := range attrs {
		if v, ok := set.Value(a.Key); !ok || v != a.Value {
			return false
		}
	}
	return true
}

func (m *meter) await(least float64, name string, attrs ...attribute.KeyValue) {
	m.t.Helper()
	redistest.Eventually(m.t, 15*time.Second, name, func() bool { return m.value(name, attrs...) >= least })
}

func TestLocksAreCounted(t *testing.T) {
	t.Parallel()
	m := newMeter(t, MetricsOptions{Group: func(name string) string { return name[:1] }, MaxGroups: 2})
	servers := start(t, 1)
	c, other := open(t, servers, m.Observer()), open(t, servers)
	for _, name := range []string{"a1", "a2", "b1", "c1", "d1"} {
		unlock(t, lock(t, c, name))
	}
	for g, n := range map[string]float64{"a": 2, "b": 1, "other": 2} {
		of := group.String(g)
		m.await(n, "holdfast.lock.hold.duration", of, outcome.String("released"))
		if got := m.value("holdfast.lock.acquired", of); got != n {
			t.Errorf("%v locks of %s, want %v", got, g, n)
		}
		if got := m.value("holdfast.lock.wait.duration", of, outcome.String("acquired")); got != n {
			t.Errorf("%v waits of %s, want %v", got, g, n)
		}
	}
	a := group.String("a")
	held := lock(t, other, "a1")
	_, _ = c.Mutex("a1").TryLock(t.Context())
	m.await(1, "holdfast.lock.refused", a, reason.String("held"))
	got := make(chan *holdfast.Lease)
	go func() {
		l, err := c.Mutex("a1").Lock(t.Context())
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	m.await(1, "holdfast.lock.waiters", a)
	unlock(t, held)
	l := <-got
	m.await(1, "holdfast.lock.holders", a)
	m.await(1, "holdfast.lease.renewals", a)
	m.await(1, "holdfast.lease.renewal.margin", a)
	if _, err := admin.Unlock(t.Context(), other, "a1", admin.UnlockOptions{}); err != nil {
		t.Fatal(err)
	}
	<-l.Context().Done()
	m.await(1, "holdfast.lease.lost", a, cause.String("forced"))
	m.await(1, "holdfast.lock.hold.duration", a, outcome.String("lost"))
	if n := m.value("holdfast.lock.holders", a); n != 0 {
		t.Errorf("%v holders, want 0", n)
	}
	m.Metrics.Observer().Observe(&holdfast.Event{Kind: holdfast.EventMissed, Missed: 3})
	if n := m.value("holdfast.events.missed"); n != 3 {
		t.Errorf("%v missed events, want 3", n)
	}
}

func TestNodesAreShown(t *testing.T) {
	t.Parallel()
	m := newMeter(t, MetricsOptions{})
	servers := start(t, 3)
	c := open(t, servers, m.Observer())
	of := func(s *redistest.Server) []attribute.KeyValue {
		return []attribute.KeyValue{serverAddress.String("127.0.0.1"), serverPort.Int(s.Port()), inSet.String("test")}
	}
	l := lock(t, c, "x")
	for _, s := range servers {
		m.await(1, "holdfast.node.votes", of(s)...)
		m.await(1, "holdfast.node.up", of(s)...)
		if n := m.value("holdfast.node.clock.offset", of(s)...); !(math.Abs(n) < 1) {
			t.Errorf("the offset is %v", n)
		}
		if n := m.value("holdfast.node.round_trip.duration", of(s)...); !(n > 0 && n < 5) {
			t.Errorf("the round trip is %v", n)
		}
	}
	if n := m.value("holdfast.window", inSet.String("test")); n != .2 {
		t.Errorf("the window is %v", n)
	}
	servers[2].Kill()
	unlock(t, l)
	m.await(1, "holdfast.node.releases.pending", of(servers[2])...)
	redistest.Eventually(t, 15*time.Second, "the dead node", func() bool {
		return m.value("holdfast.node.up", of(servers[2])...) == 0 && m.value("holdfast.node.votes", of(servers[2])...) == 0
	})
	m.await(1, "holdfast.node.stops", of(servers[2])...)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if n := m.value("holdfast.node.up", of(servers[0])...); !math.IsNaN(n) {
		t.Errorf("closed metrics have a value: %v", n)
	}
}

// OpenTelemetry: names are lowercase words with dots and underscores, and contain no unit and no "total".
func TestNamesFollowTheRules(t *testing.T) {
	t.Parallel()
	m := newMeter(t, MetricsOptions{})
	c := open(t, start(t, 1), m.Observer())
	unlock(t, lock(t, c, "x"))
	m.await(1, "holdfast.lock.acquired")
	rule := regexp.MustCompile(`^holdfast(\.[a-z][a-z_]*)+$`)
	for _, one := range m.collect() {
		if !rule.MatchString(one.Name) || strings.Contains(one.Name, "second") || strings.Contains(one.Name, "total") {
			t.Errorf("the name %s", one.Name)
		}
		if one.Unit != "s" && one.Unit != "1" && !regexp.MustCompile(`^\{[a-z]+\}$`).MatchString(one.Unit) {
			t.Errorf("the unit of %s is %q", one.Name, one.Unit)
		}
		if one.Description == "" {
			t.Errorf("%s has no description", one.Name)
		}
	}
}

func TestABadOptionIsNamed(t *testing.T) {
	t.Parallel()
	_, err := NewMetrics(MetricsOptions{MaxGroups: 1001})
	if err == nil || !strings.HasPrefix(err.Error(), "otelholdfast: MetricsOptions.MaxGroups is 1001; it must be from 1 to 1000") {
		t.Error(err)
	}
}

func TestServersHaveStandardAttributes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ addr, want string }{
		{"redis://10.0.0.7:6379/0", "10.0.0.7 6379"}, {"rediss://[::1]:7000/2", "::1 7000"}, {"unix:///run/redis.sock", "/run/redis.sock "},
		{"custom", "custom "}, {"", " "},
	} {
		set := attribute.NewSet(server("c", c.addr)...)
		address, _ := set.Value(serverAddress)
		port, has := set.Value(serverPort)
		got := address.AsString() + " "
		if has {
			got += port.String()
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.addr, got, c.want)
		}
	}
}
