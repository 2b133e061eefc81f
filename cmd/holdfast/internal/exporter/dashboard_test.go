package exporter

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The metrics of package promholdfast have a test there. make metrics asks a real Prometheus for each.
func TestTheDashboardShowsEachMetricOfTheCommand(t *testing.T) {
	dashboard := read(t, "../../../../metrics/grafana-dashboard.json")
	literal := regexp.MustCompile(`"(holdfast_[a-z_]+[a-z])"`)
	n := 0
	for _, file := range []string{"elections.go", "handler.go", "ready.go", "waits.go", "../cli/textfile.go"} {
		for _, name := range literal.FindAllStringSubmatch(read(t, file), -1) {
			if n++; !strings.Contains(dashboard, name[1]) {
				t.Errorf("the dashboard does not show %s of %s", name[1], file)
			}
		}
	}
	if n < 12 {
		t.Errorf("only %d metrics found", n)
	}
	for _, name := range regexp.MustCompile(`\bholdfast_[a-z_]+\b`).FindAllString(read(t, "../../../../metrics/alerts.yaml"), -1) {
		name = strings.TrimSuffix(name, "_count") // of a histogram
		if !strings.Contains(dashboard, name) {
			t.Errorf("a rule has the metric %s, and the dashboard does not", name)
		}
	}
}
