package promholdfast

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Each metric has a place on the dashboard. make metrics also runs the queries of the dashboard in a real Prometheus.
func TestTheDashboardShowsEachMetric(t *testing.T) {
	t.Parallel()
	dashboard, err := os.ReadFile("../grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := make(chan *prometheus.Desc)
	go func() { defer close(all); m.Describe(all) }()
	name := regexp.MustCompile(`fqName: "(\w+)"`)
	n := 0
	for d := range all {
		n++
		if found := name.FindStringSubmatch(d.String()); found == nil || !strings.Contains(string(dashboard), found[1]) {
			t.Errorf("the dashboard does not show %s", d)
		}
	}
	if n < 15 {
		t.Errorf("only %d metrics found", n)
	}
}
