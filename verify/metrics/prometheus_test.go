package check

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// server is a real Prometheus with the alert rules of the project.
type server struct {
	t   *testing.T
	url string
}

// program returns the path of a program, or fails the test with the command that installs it.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v; run: make metrics-deps", err)
	}
	return path
}

// scrape starts a Prometheus that scrapes the targets every half second.
func scrape(t *testing.T, targets ...string) *server {
	t.Helper()
	dir := t.TempDir()
	rules, err := filepath.Abs("../../metrics/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "prometheus.yaml")
	text := fmt.Sprintf(`global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
rule_files: [%q]
scrape_configs:
  - job_name: test
    scrape_interval: 500ms
    static_configs: [{targets: [%s]}]
`, rules, strings.Join(targets, ", "))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program(t, "prometheus"), "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+addr, "--log.level=warn")
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("the log of prometheus:\n%s", text)
		}
	})
	s := &server{t, "http://" + addr}
	redistest.Eventually(t, 30*time.Second, "prometheus to be ready", func() bool {
		r, err := http.Get(s.url + "/-/ready")
		if err != nil {
			return false
		}
		r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	return s
}

// get decodes the data of an answer of Prometheus' API.
func (s *server) get(path string, into any) error {
	r, err := http.Get(s.url + path)
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
		return fmt.Errorf("%s: %s", path, answer.Error)
	}
	return json.Unmarshal(answer.Data, into)
}

// query returns the number of series of an expression.
func (s *server) query(expr string) (int, error) {
	var data struct{ Result []json.RawMessage }
	err := s.get("/api/v1/query?query="+url.QueryEscape(expr), &data)
	return len(data.Result), err
}
