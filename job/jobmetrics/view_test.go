package jobmetrics

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A job that ran for a month, and whose outcome then cannot be read, is overdue after its next tick: not for a month.
func TestAnUnreadableJobIsDueSinceItWasFound(t *testing.T) {
	t.Parallel()
	hourly, err := job.ParseSchedule("every 1h")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	v, o := &view{}, own{schedule: hourly, since: began}
	found := began.AddDate(0, 1, 0).Add(30 * time.Minute)
	for _, c := range []struct {
		after      time.Duration
		unreadable bool
		want       time.Duration
	}{
		{0, true, 0}, {20 * time.Minute, true, 0}, {90 * time.Minute, true, time.Hour}, {0, false, found.Sub(began) - time.Hour}, {2 * time.Hour, true, 0},
	} {
		now := found.Add(c.after)
		if got := v.since("x", o, c.unreadable, now).late(now); got != c.want {
			t.Errorf("%s later, unreadable %t: overdue by %s; want %s", c.after, c.unreadable, got, c.want)
		}
	}
}
