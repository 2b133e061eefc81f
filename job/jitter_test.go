package job_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A jitter that reaches the next tick would leave out ticks, so it is refused.
func TestAJitterThatReachesTheNextTickIsRefused(t *testing.T) {
	for jitter, ok := range map[time.Duration]bool{59 * time.Second: true, time.Minute: false, 5 * time.Minute: false} {
		err := job.Spec{Name: "x", Schedule: "every 1m", Grace: 10 * time.Minute, Jitter: jitter}.Check()
		if ok && err != nil || !ok && (!errors.Is(err, job.ErrBadSpec) || !strings.Contains(err.Error(), "between two ticks")) {
			t.Errorf("a jitter of %s: %v", jitter, err)
		}
	}
}

// On the day of a clock change the time between two ticks may be shorter than on all other days. A longer jitter would
// leave a tick out on this day.
func TestAJitterIsShorterThanTheGapsOfAClockChange(t *testing.T) {
	for schedule, want := range map[string]string{
		"CRON_TZ=Europe/Berlin 0 12 * * *":       "23h0m0s",
		"CRON_TZ=Europe/Berlin 30 2 * * *":       "23h0m0s", // the day after the change
		"CRON_TZ=America/Santiago 0 12 * * *":    "23h0m0s",
		"CRON_TZ=Australia/Lord_Howe 0 12 * * *": "23h30m0s",
		"CRON_TZ=Europe/Berlin 50 2,4 * * *":     "1h0m0s",
		"CRON_TZ=Europe/Berlin 0 12 * * 6,0":     "23h0m0s",
		"CRON_TZ=Asia/Tokyo 0 12 * * *":          "24h0m0s",
		"CRON_TZ=Europe/Berlin 0 0 29 2 *":       "35064h0m0s",
		"0 12 * * *":                             "24h0m0s",
	} {
		least, err := time.ParseDuration(want)
		if err != nil {
			t.Fatal(err)
		}
		s := job.Spec{Name: "n", Schedule: schedule, Grace: 40000 * time.Hour, Jitter: least}
		if err := s.Check(); !errors.Is(err, job.ErrBadSpec) || !strings.Contains(err.Error(), "between two ticks, "+want) {
			t.Errorf("%s with a jitter of %s: %v", schedule, least, err)
		}
		if s.Jitter--; s.Check() != nil {
			t.Errorf("%s with a jitter of %s: %v", schedule, s.Jitter, s.Check())
		}
	}
}

// The check is cheap for the schedule with the most ticks, too.
func BenchmarkCheck(b *testing.B) {
	s := job.Spec{Name: "n", Schedule: "CRON_TZ=Europe/Berlin * * * * *", Jitter: time.Second}
	for b.Loop() {
		if err := s.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
