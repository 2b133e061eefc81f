package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// A job that no machine calls any more has a next tick in the past.
func TestATickThatNobodyRanIsOverdue(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	next := func(s job.State, after time.Duration) job.Outcome {
		return job.Outcome{Tick: time.Now().Add(-time.Hour), Next: time.Now().Add(after), State: s, Host: "web-1"}
	}
	if err := printJobs(&out, map[string]job.Outcome{
		"dropped": next(job.Done, -jobmetrics.MostLate-time.Second), "late": next(job.Done, -jobmetrics.MostLate+10*time.Second), "crashed": next(job.Crashed, -2*time.Minute),
		"running": next(job.Running, -2*time.Minute), "beginning": next(job.Done, -time.Second), "later": next(job.Done, time.Hour),
	}, time.Now()); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		name, rest, _ := strings.Cut(line, " ")
		if got, want := strings.Contains(rest, " OVERDUE "), name == "dropped" || name == "crashed"; got != want {
			t.Errorf("overdue is %t, want %t: %s", got, want, line)
		}
	}
}
