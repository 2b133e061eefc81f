//go:build linux

package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	full  = flag.Bool("capacity.full", false, "measure: 100,000 names, 10,000 waiters, 300 clients")
	quick = flag.Bool("capacity.quick", false, "try this test: few of all, no rests, and nothing is demanded")
	out   = flag.String("capacity.out", filepath.Join(os.TempDir(), "holdfast-capacity"),
		"write measured.json and capacity.md of each run to this `directory`, also if it fails")
	write = flag.Bool("capacity.write", false, "write those of the repository, if a full run agrees")
)

func TestMain(m *testing.M) {
	beWorker()
	flag.Parse()
	os.Exit(m.Run())
}

// The costs come from small runs on one shard, and on six for clients that do nothing. The model with these costs must
// agree with larger runs on 3 and 16 shards, with another TTL. The tolerances are those of figures.
func TestTheModelAgreesWithLargerRuns(t *testing.T) {
	s := size{names: 100_000, waiters: 10_000, processes: 4, clients: 300}
	switch {
	case *quick:
		s = size{names: 3000, waiters: 500, processes: 2, clients: 40}
		measureTTL, largeTTL, settled, longest = 4*time.Second, 5*time.Second, time.Second, 2*time.Second
		repeats, shortRepeats, retakes = 1, 1, 1
	case !*full:
		t.Skip("it needs a quarter of an hour of a quiet machine: make capacity runs it")
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		t.Fatal(err)
	}
	m := &Measured{Date: time.Now().UTC().Format("2006-01-02")}
	name := machine()
	keepIn := func(file, page string) {
		m.Machine = name + "; " + noise()
		if err := m.store(file, page); err != nil {
			t.Error(err)
		}
	}
	keep := func() { keepIn(filepath.Join(*out, "measured.json"), filepath.Join(*out, "capacity.md")) }
	t.Log("the measurements go to ", *out)
	k := &m.Constants
	measureTopology(t, k)
	measure(t, k)
	measureBus(t, k)
	k.each(func(name string, value *float64) { t.Log(name, number(*value)) })
	keep()
	compare(t, m, s, keep)
	var text strings.Builder
	if err := comparisons(*m).text(&text); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s%s", text.String(), noise())
	if *quick {
		return
	}
	for _, c := range m.Checks {
		if c.bad(*k) {
			t.Errorf("%s, %s: the model is off by %+.0f %%", c.What, c.Figure, 100*c.off(*k))
		}
	}
	if *write && !t.Failed() {
		keepIn("measured.json", "../../docs/results/capacity.md")
	}
}
