//go:build linux

package fleet

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verify/promserver"
)

// watcher is a real Prometheus that scrapes the three machines and has the alert rules of the project.
type watcher struct {
	*hourFleet
	*promserver.Server
	began time.Time
}

// wholeHour is the length from which the times in the rules stay as they are.
const wholeHour = 30 * time.Minute

// hourRules returns the rules of the project. Nobody waits for three days, so HoldfastJobPaused fires earlier. In a short
// run the rules about hangs and about jobs that never ran have seconds instead of minutes, and no alert waits for minutes.
func hourRules(t *testing.T, length time.Duration) string {
	t.Helper()
	text := promserver.Rules(t)
	if length >= wholeHour {
		t.Log("the alert rules are those of the project, but HoldfastJobPaused fires after a minute")
		return strings.Replace(text, "for: 3d", "for: 1m", 1)
	}
	t.Logf("alerts: the run is shorter than %s, so each rule waits for 4s, and HoldfastJobHung and HoldfastJobNeverRan have 25s in place of their minutes; HoldfastJobOverdue has its 300s and cannot fire", wholeHour)
	rules := strings.Split(regexp.MustCompile(`for: \d+[smd]`).ReplaceAllString(text, "for: 4s"), "- alert: ")
	for i, rule := range rules {
		if strings.HasPrefix(rule, "HoldfastJobHung") || strings.HasPrefix(rule, "HoldfastJobNeverRan") {
			rules[i] = regexp.MustCompile(`> [36]00\b`).ReplaceAllString(rule, "> 25")
		}
	}
	return strings.Join(rules, "- alert: ")
}

func (f *hourFleet) watch(rules string) *watcher {
	f.t.Helper()
	return &watcher{f, promserver.Start(f.t, rules, 2*time.Second, f.metrics[:]...), time.Now()}
}

// series is what a query returns for one job and alert.
type series struct {
	Metric struct{ Alertname, Name string }
	Value  []any   // of an instant
	Values [][]any // of a range
}

func (w *watcher) query(path string, values url.Values) (list []series, err error) {
	var data struct{ Result []series }
	err = w.Get(path, values, &data)
	return data.Result, err
}

// fires reports whether an alert of a job fires now.
func (w *watcher) fires(alert, name string) bool {
	list, err := w.query("query", url.Values{"query": {fmt.Sprintf(`ALERTS{alertstate="firing",alertname=%q,name=%q}`, alert, name)}})
	return err == nil && len(list) > 0
}

// awaits waits until an alert of a job fires. It looks after each run of the good job.
func (w *watcher) awaits(within time.Duration, alert, name string) {
	w.t.Helper()
	redistest.Eventually(w.t, within, alert+" of "+name+" to fire", func() bool {
		if w.fires(alert, name) {
			return true
		}
		w.awaitsRuns("good", 1, "")
		return false
	})
	w.t.Logf("alert: %s of %s fires after %s", alert, name, time.Since(w.began).Round(time.Second))
}

// fired returns the times at which the alerts about jobs fired: alert and job, and times.
func (w *watcher) fired() map[string][]time.Time {
	w.t.Helper()
	now := time.Now()
	list, err := w.query("query_range", url.Values{
		"query": {`ALERTS{alertstate="firing",alertname=~"HoldfastJob.*"}`}, "step": {"2"},
		"start": {fmt.Sprint(w.began.Unix())}, "end": {fmt.Sprint(now.Unix())},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	fired := map[string][]time.Time{}
	for _, s := range list {
		key := s.Metric.Alertname + " " + s.Metric.Name
		for _, v := range s.Values {
			at, _ := v[0].(float64)
			fired[key] = append(fired[key], time.UnixMilli(int64(at*1000)))
		}
	}
	return fired
}

// staleness is how old the state of a job in an alert may be: a reading counts for 10 s, a scrape may wait for 5 s more,
// and Prometheus shows the alerts of the last look in a busy minute.
const staleness = time.Minute

// judgeAlerts compares the alerts of the whole run with the histories.
func (w *watcher) judgeAlerts() {
	w.t.Helper()
	var fired map[string][]time.Time
	for _, must := range []string{"HoldfastJobFailed bad", "HoldfastJobFailed hung", "HoldfastJobHung stuck", "HoldfastJobPaused resting", "HoldfastJobNeverRan never"} {
		redistest.Eventually(w.t, time.Minute, must+" in the history of alerts", func() bool { fired = w.fired(); return len(fired[must]) > 0 })
	}
	for key, times := range fired {
		alert, name, _ := strings.Cut(key, " ")
		w.t.Logf("alert: %s of %s fired for about %s", alert, name, time.Duration(len(times))*2*time.Second)
		switch {
		case key == "HoldfastJobHung stuck", key == "HoldfastJobPaused resting", key == "HoldfastJobNeverRan never":
		case alert == "HoldfastJobFailed": // a machine that is killed makes also the run of a good job crash
			history := w.attempts(name)
			for _, at := range times {
				if !failedAt(history, at) {
					w.t.Errorf("%s fired at %s, and no run failed or crashed then", key, at.UTC())
					break
				}
			}
		default:
			w.t.Errorf("this alert fired: %s, at %s", key, times[0].UTC())
		}
	}
}

// failedAt reports whether the last run that ended before at, or within staleness of it, failed or crashed.
func failedAt(history []attempt, at time.Time) bool {
	for i, a := range history {
		if a.State != "failed" && a.State != "crashed" || i+1 < len(history) && history[i+1].Tick.Equal(a.Tick) && a.State == "failed" || a.Started.After(at.Add(clockSlack)) {
			continue
		}
		good := at // the end of the next run that was done
		for _, next := range history[i+1:] {
			if next.State == "done" {
				good = next.Started.Add(time.Duration(next.TookMS) * time.Millisecond)
				break
			}
		}
		if !at.After(good.Add(staleness)) {
			return true
		}
	}
	return false
}

var jobSample = regexp.MustCompile(`^holdfast_job_(runs_total|retries_total|missed_ticks_total|paused|never_ran)\{([^}]*)\} (\S+)$`)

var label = regexp.MustCompile(`(\w+)="([^"]*)"`)

// counters returns the counters at /metrics of a machine: the metric, the job and the result, and the value.
func (f *hourFleet) counters(i int) map[string]int {
	r, err := http.Get("http://" + f.metrics[i] + "/metrics")
	if err != nil {
		return nil
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	got := map[string]int{}
	for line := range strings.Lines(string(text)) {
		m := jobSample.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		labels := map[string]string{}
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			labels[l[1]] = l[2]
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil || value == 0 {
			continue
		}
		got[strings.TrimSpace(m[1]+" "+labels["name"]+" "+labels["result"])] = int(value)
	}
	return got
}
