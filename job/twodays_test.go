package job_test

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// cron(8) runs a line whose two day fields are both restricted on each day that fits one of them. A crontab that moves
// to holdfast cron must keep its ticks.
func TestTwoDayFieldsMeanEitherAsInCrontab(t *testing.T) {
	from := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string][]int{
		"0 4 13 * 5":   {6, 13, 20, 27}, // the 13th, and Fridays
		"0 4 1 * 1":    {1, 2, 9, 16, 23, 30},
		"0 4 1 * *":    {1},
		"0 4 * * 1":    {2, 9, 16, 23, 30},
		"0 4 */10 * 0": {1}, // a field that begins with * is not restricted: both must fit
	} {
		s, err := job.ParseSchedule(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []int
		for tick := s.Next(from); tick.Month() == time.November; tick = s.Next(tick) {
			got = append(got, tick.Day())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: ticks on %v of November 2026, want %v", text, got, want)
		}
	}
}
