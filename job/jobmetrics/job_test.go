package jobmetrics_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

func TestTheStateOfAnOutcome(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Date(2026, 11, 24, 2, 30, s, 0, time.UTC) }
	now := at(30)
	for _, c := range []struct {
		what string
		o    job.Outcome
		want func(jobmetrics.Job) bool
	}{
		{"done", job.Outcome{State: job.Done, Started: at(0), Took: time.Second, Next: at(20)}, func(j jobmetrics.Job) bool {
			return !j.Failed && j.Success.Equal(at(1)) && j.Failure.IsZero() && j.Took == time.Second && j.Overdue == 10*time.Second && j.Next.Equal(at(20))
		}},
		{"failed", job.Outcome{State: job.Failed, Started: at(0), Took: time.Second, Book: job.Book{Done: at(-60), Took: 5}}, func(j jobmetrics.Job) bool {
			return j.Failed && j.Failure.Equal(at(1)) && j.Success.Equal(at(-60)) && j.Took == 5
		}},
		{"failed, with a retry to come", job.Outcome{State: job.Failed, Started: at(0), Took: 1, Retry: at(40)}, func(j jobmetrics.Job) bool {
			return !j.Failed && j.Failure.IsZero()
		}},
		{"failed, with a retry that is late", job.Outcome{State: job.Failed, Started: at(0), Took: 1, Retry: at(-31)}, func(j jobmetrics.Job) bool {
			return j.Failed && j.Failure.Equal(at(0).Add(1)) && j.Overdue == 61*time.Second
		}},
		{"interrupted, and nobody repeats it", job.Outcome{State: job.Interrupted, Retry: at(-60), Book: job.Book{Failed: at(-90)}}, func(j jobmetrics.Job) bool {
			return !j.Failed && j.Overdue == 90*time.Second
		}},
		{"crashed, and found later", job.Outcome{State: job.Crashed, Started: at(0), Book: job.Book{Failed: at(20)}}, func(j jobmetrics.Job) bool {
			return j.Failed && j.Failure.Equal(at(20))
		}},
		{"in the future", job.Outcome{State: job.Done, Tick: at(3630), Next: at(3690), Book: job.Book{Stuck: at(10)}}, func(j jobmetrics.Job) bool {
			return j.Ahead == time.Hour && j.Overdue == 20*time.Second
		}},
		{"in the future, which no process knows", job.Outcome{State: job.Done, Tick: at(3630), Next: at(3690)}, func(j jobmetrics.Job) bool {
			return j.Ahead == time.Hour && j.Overdue == 0
		}},
		{"only asked for", job.Outcome{State: job.Removed, Started: at(0), Book: job.Book{Asked: &job.Action{}}}, func(j jobmetrics.Job) bool {
			return j.NeverRan && !j.Unreadable && !j.Failed
		}},
		{"unreadable", job.Outcome{State: job.Unreadable, Error: "x"}, func(j jobmetrics.Job) bool { return j.Unreadable && !j.NeverRan }},
		{"the retry runs", job.Outcome{State: job.Running, Attempt: 2, Started: at(20), Failures: 1, Book: job.Book{Failed: at(-60)}}, func(j jobmetrics.Job) bool {
			return !j.Failed && j.Running == 10*time.Second
		}},
		{"runs after a run that failed", job.Outcome{State: job.Running, Attempt: 1, Started: at(20), Book: job.Book{Done: at(-90), Failed: at(-60)}}, func(j jobmetrics.Job) bool {
			return j.Failed && j.Running == 10*time.Second && j.Overdue == 0
		}},
		{"runs after a run that was done", job.Outcome{State: job.Running, Attempt: 1, Started: at(20), Book: job.Book{Done: at(-60), Failed: at(-90)}}, func(j jobmetrics.Job) bool {
			return !j.Failed
		}},
		{"interrupted after a run that crashed", job.Outcome{State: job.Interrupted, Book: job.Book{Failed: at(-60)}}, func(j jobmetrics.Job) bool { return j.Failed }},
		{"reset after a run that was done", job.Outcome{State: job.Reset, Book: job.Book{Done: at(-60)}}, func(j jobmetrics.Job) bool { return !j.Failed && j.Success.Equal(at(-60)) }},
		{"interrupted only", job.Outcome{State: job.Interrupted, Took: 7}, func(j jobmetrics.Job) bool { return !j.Failed && j.Took == 7 }},
		{"paused", job.Outcome{State: job.Done, Next: at(0), Book: job.Book{Paused: &job.Action{}, Missed: 3, Retried: 2, Runs: map[job.State]int{job.Done: 4}}}, func(j jobmetrics.Job) bool {
			return j.Paused && j.Overdue == 0 && j.Missed == 3 && j.Retries == 2 && j.Runs[job.Done] == 4
		}},
	} {
		j, exists := jobmetrics.Of("c", "x", c.o, now)
		if !exists || j.Cluster != "c" || j.Name != "x" || !c.want(j) {
			t.Errorf("%s: %+v", c.what, j)
		}
	}
	for _, gone := range []job.Outcome{{State: job.Removed, Tick: at(0)}, {State: job.Failed, Book: job.Book{Retired: &job.Action{}}}} {
		if _, exists := jobmetrics.Of("c", "x", gone, now); exists {
			t.Errorf("a job that is gone has a state: %+v", gone)
		}
	}
}
