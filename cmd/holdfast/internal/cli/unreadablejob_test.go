package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A job whose outcome a newer version stored comes before the jobs that are in order. It has a reason, and no time.
func TestAJobThatCannotBeReadIsShown(t *testing.T) {
	var out strings.Builder
	now := time.Now()
	if err := printJobs(&out, map[string]job.Outcome{
		"a": {State: job.Done, Tick: now, Started: now, Host: "web-1/7"}, "b": {State: job.Unreadable, Error: "its outcome has the format 2"},
	}, now); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if got := strings.Join(strings.Fields(lines[1]), " "); got != "b unreadable its outcome has the format 2" {
		t.Errorf("the first job is %q", got)
	}
}
