package job

import (
	"testing"
	"time"
)

// A run belongs to the last tick, or to the next one if the scheduler's clock is a little ahead.
func TestTheTickNearARun(t *testing.T) {
	for _, c := range []struct{ schedule, at, want string }{
		{"every 2s", "12:00:00", "12:00:00"},
		{"every 2s", "12:00:00.9", "12:00:00"},
		{"every 2s", "12:00:01.1", "12:00:02"}, // early
		{"every 2s", "12:00:01.999999", "12:00:02"},
		{"0 * * * *", "12:00:00", "12:00:00"},
		{"0 * * * *", "11:59:31", "12:00:00"}, // early
		{"0 * * * *", "11:59:29", "11:00:00"}, // so early that it is late
		{"0 * * * *", "12:59:00", "12:00:00"},
		{"30 2 * * *", "02:29:59.8", "02:30:00"},
	} {
		s, err := ParseSchedule(c.schedule)
		if err != nil {
			t.Fatal(err)
		}
		at, want := clockTime(t, c.at), clockTime(t, c.want)
		if got := near(s, at); !got.Equal(want) {
			t.Errorf("%q at %s: %s, want %s", c.schedule, c.at, got.Format(time.TimeOnly), c.want)
		}
	}
	if got := near(never{}, clockTime(t, "12:00:00")); !got.IsZero() {
		t.Errorf("a rule without ticks: %s", got)
	}
}

type never struct{}

func (never) Next(time.Time) time.Time { return time.Time{} }

func clockTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02 15:04:05", "2026-03-02 "+text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
