//go:build linux

package incident

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// prometheus is a real Prometheus with the alert rules of the project, which scrapes a ward.
type prometheus struct {
	t    *testing.T
	addr string
}

// The rules have minutes, and tests have seconds. wait is how long an alert must be true before it fires, and limit is a
// time in an expression.
var (
	wait  = regexp.MustCompile(`for: \S+`)
	limit = regexp.MustCompile(`> 600\b`)
)

func (w *ward) watch() *prometheus {
	w.t.Helper()
	path, err := exec.LookPath("prometheus")
	if err != nil {
		w.t.Fatalf("%v; run: make metrics-deps", err)
	}
	rules, err := os.ReadFile("../../metrics/alerts.yaml")
	if err != nil {
		w.t.Fatal(err)
	}
	dir := w.t.TempDir()
	write := func(name string, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			w.t.Fatal(err)
		}
		return file
	}
	config := write("prometheus.yaml", fmt.Sprintf(`global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs: [{job_name: holdfast, static_configs: [{targets: [%q, %q]}]}]
`, write("alerts.yaml", limit.ReplaceAllString(wait.ReplaceAllString(string(rules), "for: 2s"), "> 5")), w.metrics, w.fleet))
	p := &prometheus{w.t, free(w.t)}
	c := exec.Command(path, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+p.addr, "--log.level=warn")
	c.SysProcAttr = w.command().SysProcAttr
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	redistest.Eventually(w.t, 30*time.Second, "prometheus to be ready", func() bool {
		r, err := http.Get("http://" + p.addr + "/-/ready")
		if err != nil {
			return false
		}
		r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	return p
}

// alert is an alert that fires.
type alert struct {
	State               string
	Labels, Annotations map[string]string
}

// firing returns the alerts that fire, in the order of their names and summaries.
func (p *prometheus) firing() ([]alert, error) {
	r, err := http.Get("http://" + p.addr + "/api/v1/alerts")
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	var answer struct{ Data struct{ Alerts []alert } }
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(answer.Data.Alerts, func(a alert) bool { return a.State != "firing" })
	slices.SortFunc(list, func(a, b alert) int { return strings.Compare(a.String(), b.String()) })
	return list, nil
}

func (a alert) String() string { return a.Labels["alertname"] + ": " + a.Annotations["summary"] }

// look returns a line for each alert that fires.
func (p *prometheus) look() string {
	list, err := p.firing()
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintln(&b, a)
	}
	return b.String()
}

// annotated returns the alerts that fire, with their severity and all their annotations.
func (p *prometheus) annotated() string {
	list, err := p.firing()
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintf(&b, "%s (%s)\n", a.Labels["alertname"], a.Labels["severity"])
		for _, name := range slices.Sorted(maps.Keys(a.Annotations)) {
			fmt.Fprintf(&b, "  %s: %s\n", name, a.Annotations[name])
		}
	}
	if len(list) == 0 {
		b.WriteString("No alert fires.\n")
	}
	return b.String()
}
