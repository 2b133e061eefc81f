package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// The jobs that need attention come first. A job that is paused, was removed or left the file is not overdue.
func TestJobsThatNeedAttentionComeFirst(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	past, soon := now.Add(-time.Hour), now.Add(time.Hour)
	act := &job.Action{What: "pause", At: past, By: "ops/1", Note: "full"}
	jobs := map[string]job.Outcome{
		"a-done": {State: job.Done, Next: soon}, "b-running": {State: job.Running, Next: past}, "c-failed": {State: job.Failed, Next: soon},
		"d-overdue": {State: job.Done, Next: past}, "e-removed": {State: job.Removed, Tick: past, Next: past},
		"f-left":   {State: job.Failed, Next: past, Book: job.Book{Retired: act}},
		"g-paused": {State: job.Done, Next: past, Book: job.Book{Paused: act}}, "h-crashed": {State: job.Crashed, Next: soon},
		"i-late": {State: job.Crashed, Next: past}, "j-retry": {State: job.Failed, Next: soon, Retry: soon},
		"k-asked": {State: job.Removed, Book: job.Book{Asked: &job.Action{What: "run", At: now}}},
	}
	want := []string{"d-overdue", "i-late", "c-failed", "h-crashed", "j-retry", "b-running", "a-done", "g-paused", "e-removed", "f-left", "k-asked"}
	if got := byUrgency(jobs, now); !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
	for name, state := range map[string]string{
		"d-overdue": "done OVERDUE", "g-paused": "done PAUSED", "j-retry": "failed RETRY", "e-removed": "removed", "f-left": "failed retired",
		"b-running": "running", "k-asked": "never ran ASKED",
	} {
		if got := jobState(jobs[name], now); got != state {
			t.Errorf("%s has the state %q, want %q", name, got, state)
		}
	}
}

// Texts of the nodes cannot control the terminal, and an output has a mark before each line.
func TestABlockOfAJobIsPrintable(t *testing.T) {
	t.Parallel()
	const forged = "x\x1b[2J\n"
	code := 3
	act := job.Action{What: forged, By: forged, Note: forged}
	o := job.Outcome{
		State: job.Failed, Host: forged, Error: forged, Schedule: forged, Exit: &code, Output: "first\n" + forged + "last",
		Book: job.Book{Runs: map[job.State]int{forged: 1}, Audit: []job.Action{act}, Paused: &act, Past: []job.PastRun{{State: forged, Host: forged, Error: forged, Output: forged}}},
	}
	var out strings.Builder
	if err := printJob(&out, forged, o, time.Now(), true, true); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsRune(out.String(), '\x1b') {
		t.Errorf("a control character is printed: %q", out.String())
	}
	if !strings.Contains(out.String(), "  | first\n  | x·[2J\n  | last\n") {
		t.Errorf("the output is not marked:\n%s", out.String())
	}
}
