package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// job runs a job for a tick two hours ago.
func (w *ward) job(name string, result error) {
	w.t.Helper()
	c := w.vote()
	ran, err := (job.Spec{Name: name}).Once(w.t.Context(), c, time.Now().Add(-2*time.Hour), func(context.Context, job.Tick) error { return result })
	if !ran {
		w.t.Fatalf("job %s did not run: %v", name, err)
	}
}

func TestTheDoctorExaminesJobs(t *testing.T) {
	t.Parallel()
	w := newWard(t, 3)
	c := w.vote()
	is := func(what string, s Severity, state, fix string) {
		t.Helper()
		all := w.examine("jobs")
		if len(all) != 1 || all[0].Check != "jobs" || all[0].Severity != s || !strings.Contains(all[0].State, state) || !strings.Contains(all[0].Fix, fix) {
			t.Errorf("%s: %+v; want %s: %s; fix: %s", what, all, s, state, fix)
		}
	}
	is("no job", OK, "there is no job", "")
	w.job("x y", nil)
	is("a job that was done", OK, "1 job is in order", "")
	if err := job.Pause(t.Context(), c, "x y", "the archive is full"); err != nil {
		t.Fatal(err)
	}
	is("a paused job", Note, `"x y": paused `, "holdfast jobs resume 'x y'")
	if err := errors.Join(job.Resume(t.Context(), c, "x y", ""), job.Retire(t.Context(), c, "x y", "")); err != nil {
		t.Fatal(err)
	}
	is("a retired job", Note, `"x y": retired `, "holdfast jobs remove 'x y'")
	if err := job.Remove(t.Context(), c, "x y", ""); err != nil {
		t.Fatal(err)
	}
	is("a removed job", OK, "1 job is in order", "")

	// A run whose process has the lock still hangs, and one whose process is dead has crashed.
	text, err := json.Marshal(struct {
		Job int `json:"holdfast_job"`
		job.Outcome
	}{1, job.Outcome{Tick: time.Now().Add(-time.Hour), State: job.Running, Attempt: 1, Started: time.Now().Add(-time.Hour), Host: "web-1/7", Book: job.Book{Took: time.Minute, Done: time.Now().Add(-2 * time.Hour)}}})
	if err != nil {
		t.Fatal(err)
	}
	lease := leasetest.Lock(t, c, "h")
	if err := lease.Store(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	is("a job that hangs", Warn, `"h": it has run for 1h0m`, "end the command on web-1/7 if it hangs: holdfast status h; or take its lock away: holdfast unlock h --force")
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	is("a job whose process died", Warn, `"h": its last run crashed on web-1/7 1h0m`, "holdfast jobs --history h")
}

func TestTheDoctorNamesTenSickJobs(t *testing.T) {
	t.Parallel()
	w := newWard(t, 1)
	c := w.vote()
	for i := range 12 {
		name := fmt.Sprint("job", i)
		if ran, err := (job.Spec{Name: name}).Once(t.Context(), c, time.Now().Add(-time.Hour), func(context.Context, job.Tick) error { return errors.New("no") }); !ran {
			t.Fatal(err)
		}
	}
	all := w.examine("jobs")
	if len(all) != 11 || all[10].Severity != Note || all[10].State != "2 more" || !strings.Contains(all[10].Fix, "holdfast jobs") {
		t.Errorf("%+v", all)
	}
	w.servers[0].Kill()
	if all := w.examine("jobs"); len(all) != 1 || all[0].Severity != Note || !strings.HasPrefix(all[0].State, "not known: ") {
		t.Errorf("without nodes: %+v", all)
	}
}

func TestTheStateOfAJob(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 2, 30, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	running := func(since, took time.Duration, next time.Time) job.Outcome {
		return job.Outcome{State: job.Running, Attempt: 1, Started: ago(since), Next: next, Host: "h", Book: job.Book{Took: took, Done: ago(24 * time.Hour)}}
	}
	done := func(next time.Time, b job.Book) job.Outcome {
		b.Done = ago(time.Hour)
		return job.Outcome{State: job.Done, Started: ago(time.Hour), Next: next, Host: "h", Book: b}
	}
	for _, c := range []struct {
		what string
		o    job.Outcome
		want Severity
		says string
	}{
		{"a long run that is usual", running(30*time.Minute, 20*time.Minute, now), OK, ""},
		{"a run of nine minutes before its tick", running(9*time.Minute, time.Second, now.Add(time.Minute)), OK, ""},
		{"a run of nine minutes past its tick", running(9*time.Minute, time.Second, ago(9*time.Minute)), Warn, `"x": it has run for 9m0s on h`},
		{"a first run", running(30*time.Minute, 0, now.Add(time.Hour)), OK, ""},
		{"a run that takes too long", running(30*time.Minute, 5*time.Minute, now.Add(time.Hour)), Warn, `"x": it has run for 30m0s on h; the last good run took 5m0s`},
		{"a run past its tick", running(30*time.Minute, 0, ago(11*time.Minute)), Warn, `"x": it has run for 30m0s on h`},
		{"a late tick", done(ago(jobmetrics.MostLate), job.Book{}), OK, ""},
		{"a tick at the bound", done(ago(jobmetrics.MostLate+time.Second), job.Book{}), Warn, `"x": its tick of 2026-11-24T02:28:59Z is overdue by 1m1s`},
		{"an overdue tick", done(ago(6*time.Minute), job.Book{}), Warn, `"x": its tick of 2026-11-24T02:24:00Z is overdue by 6m0s`},
		{"a short pause", done(ago(time.Hour), job.Book{Paused: &job.Action{At: ago(time.Hour), By: "b", Note: "why"}}), Note, `"x": paused 1h0m0s ago by b: why`},
		{"a long pause", done(ago(time.Hour), job.Book{Paused: &job.Action{At: ago(73 * time.Hour), By: "b"}}), Warn, `"x": paused 73h0m0s ago by b`},
		{"a run after one that failed", job.Outcome{State: job.Running, Attempt: 1, Started: now, Host: "h", Book: job.Book{Failed: ago(time.Hour), Past: []job.PastRun{{State: job.Failed, Host: "g", Error: "no"}}}},
			Warn, `"x": its last run failed on g 1h0m0s ago: no`},
		{"a failure without history", job.Outcome{State: job.Running, Attempt: 1, Started: now, Book: job.Book{Failed: ago(time.Hour)}}, Warn, `"x": its last run failed or crashed 1h0m0s ago`},
		{"a retry that waits", job.Outcome{State: job.Failed, Started: ago(time.Minute), Retry: now.Add(time.Minute)}, OK, ""},
	} {
		f, sick := examineJob("x", c.o, now)
		if sick != (c.want != OK) || f.Severity != c.want || !strings.HasPrefix(f.State, c.says) || sick && f.Fix == "" {
			t.Errorf("%s: %t %+v; want %s: %s", c.what, sick, f, c.want, c.says)
		}
	}
}
