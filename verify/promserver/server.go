package promserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/parentdeath"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// Server is a Prometheus that runs until the end of a test.
type Server struct{ url string }

// Program returns the path of a program, or fails the test with the command that installs it.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v; run: make metrics-deps", err)
	}
	return path
}

// Rules returns the alert rules of the project. The test must run in a folder of verify.
func Rules(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../../metrics/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Start starts a Prometheus with alert rules. It asks each target, and looks at each rule, once in every interval.
func Start(t testing.TB, rules string, every time.Duration, targets ...string) *Server {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	list, err := json.Marshal(targets)
	if err != nil {
		t.Fatal(err)
	}
	config := write("prometheus.yaml", fmt.Sprintf(`global: {scrape_interval: %[1]dms, scrape_timeout: %[1]dms, evaluation_interval: %[1]dms}
rule_files: [%[2]q]
scrape_configs: [{job_name: holdfast, static_configs: [{targets: %[3]s}]}]
`, every.Milliseconds(), write("alerts.yaml", rules), list))
	addr := free(t)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(Program(t, "prometheus"), "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+addr, "--log.level=warn")
	c.Stdout, c.Stderr = log, log
	if err := parentdeath.Start(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("the log of prometheus:\n%s", text)
		}
		_ = log.Close()
	})
	s := &Server{"http://" + addr}
	redistest.Eventually(t, time.Minute, "prometheus to be ready", func() bool {
		r, err := http.Get(s.url + "/-/ready")
		if err == nil {
			_ = r.Body.Close()
		}
		return err == nil && r.StatusCode == http.StatusOK
	})
	return s
}

// free returns a free address of this machine.
func free(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Get decodes the data of an answer of the API, for example of "query".
func (s *Server) Get(path string, values url.Values, into any) error {
	r, err := http.PostForm(s.url+"/api/v1/"+path, values)
	if len(values) == 0 {
		r, err = http.Get(s.url + "/api/v1/" + path)
	}
	if err != nil {
		return err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("%w: %s", err, body)
	}
	if answer.Status != "success" {
		return fmt.Errorf("prometheus: %s: %s", path, answer.Error)
	}
	return json.Unmarshal(answer.Data, into)
}

// Alert is an alert that is pending or firing.
type Alert struct {
	State               string
	Labels, Annotations map[string]string
}

// Name returns the name of the rule.
func (a Alert) Name() string { return a.Labels["alertname"] }

// Alerts returns the alerts that are pending or firing, in the order of their names and summaries.
func (s *Server) Alerts() ([]Alert, error) {
	var data struct{ Alerts []Alert }
	if err := s.Get("alerts", nil, &data); err != nil {
		return nil, err
	}
	slices.SortFunc(data.Alerts, func(a, b Alert) int {
		return cmp.Or(strings.Compare(a.Name(), b.Name()), strings.Compare(a.Annotations["summary"], b.Annotations["summary"]))
	})
	return data.Alerts, nil
}
