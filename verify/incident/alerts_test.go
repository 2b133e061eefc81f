//go:build linux

package incident

import (
	"encoding/json"
	"fmt"
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

// firing returns the alerts that fire, with their summaries.
func (p *prometheus) firing() (list []string) {
	r, err := http.Get("http://" + p.addr + "/api/v1/alerts")
	if err != nil {
		return []string{err.Error()}
	}
	defer r.Body.Close()
	var answer struct {
		Data struct {
			Alerts []struct {
				State               string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		return []string{err.Error()}
	}
	for _, a := range answer.Data.Alerts {
		if a.State == "firing" {
			list = append(list, a.Labels["alertname"]+": "+a.Annotations["summary"])
		}
	}
	slices.Sort(list)
	return list
}

func (p *prometheus) look() string { return strings.Join(append(p.firing(), ""), "\n") }
