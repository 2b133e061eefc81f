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

// A job that never ran gets another schedule. It is due since then: the ticks of this schedule before it never were.
func TestANewScheduleIsDueSinceItWasSet(t *testing.T) {
	t.Parallel()
	v := &view{}
	began := time.Date(2026, 5, 1, 12, 1, 0, 0, time.UTC)
	for _, c := range []struct {
		schedule string
		after    time.Duration
		want     time.Duration
	}{
		{"every 24h", time.Hour, 0},
		{"every 24h", 6 * time.Hour, 0}, // the file was read again
		{"every 10m", 6 * time.Hour, 0},
		{"every 10m", 7 * time.Hour, 51 * time.Minute},
	} {
		schedule, err := job.ParseSchedule(c.schedule)
		if err != nil {
			t.Fatal(err)
		}
		v.set(map[string]*job.Schedule{"x": schedule})
		now := began.Add(c.after)
		jobs, _ := v.present(now, true)
		if got := jobs["x"].late(now); got != c.want {
			t.Errorf("%s, %s later: overdue by %s; want %s", c.schedule, c.after, got, c.want)
		}
	}
}
