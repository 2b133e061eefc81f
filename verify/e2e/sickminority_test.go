package e2e

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/quantile"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// timed makes the test require measured ratios. `make minority` sets it, on an idle machine. On a busy machine correct
// code would fail with it.
var timed = flag.Bool("holdfast.timed", false, "demand measured ratios")

// sickness makes one node of a set useless, before or after the clients connect.
type sickness struct {
	name string
	make func(s *set, p *redistest.Proxy)
	cure func(s *set, p *redistest.Proxy)
}

var sicknesses = []sickness{
	{"frozen", func(s *set, _ *redistest.Proxy) { s.servers[0].Freeze() }, func(s *set, _ *redistest.Proxy) { s.servers[0].Thaw() }},
	{"dead", func(s *set, _ *redistest.Proxy) { s.servers[0].Kill() }, func(s *set, _ *redistest.Proxy) { s.servers[0].Restart() }},
	{"black-holed", func(_ *set, p *redistest.Proxy) { p.BlackHole(true) }, func(_ *set, p *redistest.Proxy) { p.BlackHole(false) }},
	{"black-holed in one direction", func(_ *set, p *redistest.Proxy) { p.DropReplies(true) }, func(_ *set, p *redistest.Proxy) { p.DropReplies(false) }},
}

func TestASickMinorityDelaysNobody(t *testing.T) {
	const timeout = 4 * time.Second
	// The TTL is long, so that a busy machine loses no lease.
	slow := func(c *holdfast.Config) { c.MaxTTL, c.TTL, c.NodeTimeout = 5*time.Second, 5*time.Second, timeout }
	if !*timed { // with timed the cases run one after the other
		t.Parallel()
	}
	for _, sick := range sicknesses {
		t.Run(sick.name, func(t *testing.T) {
			if !*timed {
				t.Parallel()
			}
			s := newSet(t, 5)
			proxy := redistest.NewProxy(t, s.servers[0].Addr())
			s.urls[0] = proxy.URL()
			c := s.ready(s.client(slow))
			cycles := inShort(400, 60)
			healthy := measure(t, c, cycles)
			sick.make(s, proxy)
			ill := measure(t, c, cycles)
			for i, op := range ops {
				ratio := float64(ill[i]) / float64(healthy[i])
				t.Logf("%-8s healthy %8s  one %s %8s  ratio %.2f", op, healthy[i], sick.name, ill[i], ratio)
				// An operation that waits for the sick node would take the whole node timeout.
				if ill[i] >= timeout/2 {
					t.Errorf("%s: median %s with one node %s: it waits for the sick node", op, ill[i], sick.name)
				}
				if *timed && ratio > 1.5 {
					t.Errorf("%s: %.2f × the healthy median with one node %s; want at most 1.5", op, ratio, sick.name)
				}
			}
			// A client that starts now must not wait for the sick node either. The quickest of three starts counts,
			// because a busy machine also causes waits.
			first := time.Hour
			for i := range 3 {
				start := time.Now()
				late := s.client(slow)
				lock(t, late, fmt.Sprint("late ", i), holdfast.WaitThroughOutages()).Unlock(t.Context())
				first = min(first, time.Since(start))
			}
			t.Logf("a new client's first lock: %s", first.Round(time.Microsecond))
			if first >= timeout/2 {
				t.Errorf("a new client's first lock takes %s with one node %s: it waits for the sick node", first, sick.name)
			}
			sick.cure(s, proxy)
		})
	}
}

var ops = []string{"acquire", "extend", "release"}

// measure returns the median time of each operation over many cycles.
func measure(t *testing.T, c *holdfast.Client, cycles int) (median [3]time.Duration) {
	t.Helper()
	var took [3][]time.Duration
	for i := range cycles {
		name := fmt.Sprint("cycle ", i)
		start := time.Now()
		l := lock(t, c, name)
		acquired := time.Now()
		if err := l.Extend(t.Context(), settings().MaxTTL); err != nil {
			t.Fatal(err)
		}
		extended := time.Now()
		if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, d := range []time.Duration{acquired.Sub(start), extended.Sub(acquired), time.Since(extended)} {
			took[i] = append(took[i], d)
		}
	}
	for i := range took {
		median[i] = quantile.Of(took[i]).Median()
	}
	return median
}

// One of three nodes keeps the name, one never had the lease, and one does not answer. The lease ends with its TTL.
// Then the name is free on a majority.
func TestUnlockAtSaysThatAMinorityKeepsTheName(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	net := s.network()
	settings := func(c *holdfast.Config) {
		c.MaxTTL, c.TTL, c.NodeTimeout = 5*time.Second, 2*time.Second, 500*time.Millisecond
	}
	for _, srv := range s.servers {
		srv.MustDo(t, "DEL", "holdfast:node:admission")
	}
	c := s.ready(s.client(net.via(t, viaRueidis), settings))
	net[1].BlackHole(true)
	l := lock(t, c, "x")
	redistest.Eventually(t, soon, "nodes 0 and 2 have the lease, and node 1 has not", func() bool {
		_, first := s.record(0, "x")
		_, second := s.record(1, "x")
		_, third := s.record(2, "x")
		return first && !second && third
	})
	net[1].BlackHole(false)
	net[1].Break()
	net[2].BlackHole(true)
	err := l.UnlockAt(t.Context(), time.Now().Add(4*time.Second))
	if !errors.Is(err, holdfast.ErrUnavailable) {
		t.Errorf("UnlockAt where one of three nodes keeps the name: %v; want ErrUnavailable", err)
	}
}
