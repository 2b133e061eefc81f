package check

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verify/promserver"
)

// expression is a query of the dashboard.
type expression struct{ panel, text string }

// expressions returns the queries of the dashboard, as Grafana would send them.
func expressions(t *testing.T) (list []expression) {
	t.Helper()
	text, err := os.ReadFile("../../metrics/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			ID      int
			Title   string
			Type    string
			GridPos struct{ H, W, X, Y int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	ids := map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.GridPos.X+p.GridPos.W > 24 || p.GridPos.W < 1 {
			t.Errorf("panel %q has the id %d and the place %+v", p.Title, p.ID, p.GridPos)
		}
		if ids[p.ID] = true; p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %q has no query", p.Title)
		}
		for _, q := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", "10s", "$job", ".*").Replace(q.Expr)
			if strings.Contains(expr, "$") {
				t.Errorf("panel %q has a variable that this test does not know: %s", p.Title, q.Expr)
			}
			list = append(list, expression{p.Title, expr})
		}
	}
	return list
}

var metricName = regexp.MustCompile(`\bholdfast_[a-z_]+`)

// names returns the metrics in a text, without the ends that histograms add.
func names(text string) (list []string) {
	for _, n := range metricName.FindAllString(text, -1) {
		for _, end := range []string{"_bucket", "_count", "_sum"} {
			n = strings.TrimSuffix(n, end)
		}
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

func TestPromtoolAcceptsTheRules(t *testing.T) {
	for _, args := range [][]string{{"check", "rules", "../../metrics/alerts.yaml"}, {"test", "rules", "../../metrics/alerts_test.yaml"}} {
		if out, err := exec.Command(promserver.Program(t, "promtool"), args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// Each query of the dashboard has data, the dashboard has each metric, and Prometheus evaluates each rule.
func TestEveryQueryOfTheDashboardHasData(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.prom")
	s := newSubject(t, file)
	if out, code := s.command("run", "--ttl", "2s", "--metrics-textfile", file, "report", "--", "true"); code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	text, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	lint := exec.Command(promserver.Program(t, "promtool"), "check", "metrics")
	lint.Stdin = text
	if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	s.works()
	cluster := s.openAt([]string{"redis+cluster://" + redistest.StartCluster(t, 1, 0).Addrs()[0]}, s.metrics.Observer())
	admin.Nodes(t.Context(), cluster) // the present masters are known
	repaired := filepath.Join(t.TempDir(), "repaired")
	jobs := jobsFile(t, "every 1s fails exit 3", "every 1s works true", "every 1s hangs sleep 60", "every 1s mended test -e "+repaired)
	cron, other := s.serves("cron", "--metrics-listen", "0", jobs), s.serves("cron", "--metrics-listen", "0", jobs)
	lead := s.serves("lead", "--metrics-listen", "0", "boss", "--", "sleep", "600")
	s.stuck()
	watch := s.serves("ui", "--listen", "127.0.0.1:0", "--metrics-listen", "0")
	p := scrape(t, s.target, cron, other, lead, watch)
	// Two machines run and show the same jobs. The alert of a job ends when one of them runs it well.
	redistest.Eventually(t, 60*time.Second, "the alerts for the jobs that fail", func() bool {
		return p.alertsOf("HoldfastJobFailed", "fails") && p.alertsOf("HoldfastJobFailed", "mended")
	})
	if err := os.WriteFile(repaired, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, 60*time.Second, "the end of the alert for the repaired job", func() bool {
		return p.alertsOf("HoldfastJobFailed", "fails") && !p.alertsOf("HoldfastJobFailed", "mended")
	})
	if p.alertsOf("HoldfastJobFailed", "works") {
		t.Error("there is an alert for a job that works")
	}
	redistest.Eventually(t, 60*time.Second, "series of work", func() bool {
		n, err := p.query(`holdfast_lost_total{cause="forced"} > 3`)
		return err == nil && n > 0
	})
	s.servers[2].Kill()
	dashboard := ""
	for _, e := range expressions(t) {
		dashboard += e.text + "\n"
		var err error
		n, last := 0, time.Now().Add(30*time.Second)
		for n == 0 && time.Now().Before(last) {
			if n, err = p.query(e.text); err != nil {
				break
			}
			if n == 0 {
				pause := time.NewTimer(100 * time.Millisecond)
				<-pause.C
			}
		}
		if err != nil || n == 0 {
			t.Errorf("panel %q: %d series, error %v: %s", e.panel, n, err, e.text)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := names(string(content) + described(s.metrics) + page(t, cron) + page(t, lead) + page(t, watch))
	if shown := names(dashboard); !slices.Equal(shown, known) {
		t.Errorf("the dashboard shows\n%s\nthe metrics are\n%s", shown, known)
	}
	rules, err := os.ReadFile("../../metrics/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names(string(rules)) {
		if !slices.Contains(known, n) {
			t.Errorf("a rule has the unknown metric %s", n)
		}
	}
	p.evaluates(28)
	redistest.Eventually(t, 30*time.Second, "the alert for the dead node", func() bool { return p.alerts("HoldfastNodeDoesNotVote") })
}

// page returns the metrics of a target.
func page(t *testing.T, target string) string {
	t.Helper()
	r, err := http.Get("http://" + target + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	lint := exec.Command(promserver.Program(t, "promtool"), "check", "metrics")
	lint.Stdin = bytes.NewReader(text)
	if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	return string(text)
}

// described returns the descriptions of all metrics, with their names.
func described(m prometheus.Collector) string {
	var b strings.Builder
	ch := make(chan *prometheus.Desc)
	go func() { m.Describe(ch); close(ch) }()
	for d := range ch {
		name, _, _ := strings.Cut(d.String(), ", help:")
		b.WriteString(name + "\n")
	}
	return b.String()
}
