package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// The example cron file of the repository is valid, and its first job has the settings that the file shows.
func TestTheExampleCronFileIsRight(t *testing.T) {
	jobs, err := readCrontab("../../../examples/jobs/jobs")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range jobs {
		names = append(names, c.spec.Name)
	}
	if got := strings.Join(names, " "); got != "nightly-report standup-mail cleanup sync" {
		t.Errorf("the jobs are %s", got)
	}
	first := jobs[0]
	if first.spec.Schedule != "CRON_TZ=Europe/Berlin 30 2 * * *" || first.spec.Missed != job.MissedOnce || first.timeout != 2*time.Hour ||
		first.command != "/opt/reports/nightly.sh --full" || len(first.env) != 1 {
		t.Errorf("the first job is %+v", first)
	}
}

func FuzzCrontab(f *testing.F) {
	f.Add("CRON_TZ=UTC\n* * * * * a b\n@daily c [missed=all] d\nevery 5m e f\n#\n\nX=1")
	f.Add("every 1s x [ttl=1s")
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := parseCrontab("f", strings.NewReader(text))
		for _, c := range jobs {
			if err == nil && (c.command == "" || c.spec.Check() != nil) {
				t.Errorf("%+v was accepted: %v", c, c.spec.Check())
			}
		}
	})
}
