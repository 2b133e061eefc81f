package job_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

func TestAnOutcomeSaysIfTicksWereMissedOrRepeated(t *testing.T) {
	for want, o := range map[string]job.Outcome{
		"tick 2026-01-02T03:04:05Z: done on web-1 after 7ms":                               {Attempt: 1},
		"tick 2026-01-02T03:04:05Z: done on web-1 after 7ms, missed=5":                     {Attempt: 1, Missed: 5},
		"tick 2026-01-02T03:04:05Z: done on web-1 after 7ms, attempt=2":                    {Attempt: 2},
		"tick 2026-01-02T03:04:05Z: done on web-1 after 7ms, attempt=3, missed=1: exit 3 ": {Attempt: 3, Missed: 1, Error: "exit 3 "},
	} {
		o.Tick, o.State, o.Host, o.Took = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), job.Done, "web-1", 7*time.Millisecond
		if got := o.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
