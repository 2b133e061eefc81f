package job_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/job"
)

// A schedule has one zone. With two, the ticks were in neither.
func TestASecondTimeZoneIsRefused(t *testing.T) {
	const text = "CRON_TZ=Europe/Berlin TZ=America/New_York 30 2 * * *"
	if s, err := job.ParseSchedule(text); err == nil {
		t.Errorf("%s is accepted as %s", text, s)
	}
}
