//go:build linux

package main

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"
)

var (
	full  = flag.Bool("capacity.full", false, "measure: 100,000 names, 10,000 waiters, 300 clients")
	quick = flag.Bool("capacity.quick", false, "measure with a tenth of that")
	write = flag.Bool("capacity.write", false, "write measured.json and docs/results/capacity.md")
)

func TestMain(m *testing.M) {
	beWorker()
	flag.Parse()
	os.Exit(m.Run())
}

// The costs come from small runs on one shard. The model with these costs must agree with larger runs on three shards,
// with another TTL. The tolerances are those of figures.
func TestTheModelAgreesWithLargerRuns(t *testing.T) {
	s := size{names: 100_000, waiters: 10_000, processes: 4, clients: 300}
	switch {
	case *quick:
		s = size{names: 10_000, waiters: 1000, processes: 2, clients: 100}
	case !*full:
		t.Skip("it needs ten minutes of a quiet machine: make scale runs it")
	}
	var m Measured
	k := &m.Constants
	m.Date, m.Machine = time.Now().UTC().Format("2006-01-02"), machine()
	measureTopology(t, k)
	measure(t, k)
	measureBus(t, k)
	k.each(func(name string, value *float64) { t.Log(name, number(*value)) })
	m.Checks = compare(t, m.Constants, s)
	var text strings.Builder
	if err := comparisons(m).text(&text); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s%s", text.String(), noise())
	m.Machine += "; " + noise()
	for _, c := range m.Checks {
		if c.bad(*k) {
			t.Errorf("%s, %s: the model is off by %+.0f %%", c.What, c.Figure, 100*c.off(*k))
		}
	}
	if *write && !t.Failed() {
		if err := m.store("measured.json", "../../docs/results/capacity.md"); err != nil {
			t.Fatal(err)
		}
	}
}
