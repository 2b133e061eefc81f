package job_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A schedule on 29 February ticks every four years, and after eight years around 2100, which is no leap year.
func TestTicksOfALeapDay(t *testing.T) {
	s, err := job.ParseSchedule("0 12 29 2 *")
	if err != nil {
		t.Fatal(err)
	}
	noon := func(year int) time.Time { return time.Date(year, 2, 29, 12, 0, 0, 0, time.UTC) }
	last := noon(2092)
	for _, year := range []int{2096, 2104, 2108} {
		next := s.Next(last)
		if !next.Equal(noon(year)) {
			t.Errorf("after %s comes %s, want %s", last, next, noon(year))
		}
		for _, before := range []time.Duration{0, time.Nanosecond, time.Hour, 24 * time.Hour} {
			if got := s.Last(next.Add(-before)); before > 0 && !got.Equal(last) || before == 0 && !got.Equal(next) {
				t.Errorf("the last tick %s before %s is %s", before, next, got)
			}
		}
		last = noon(year)
	}
	for year := 2026; year < 2096; year++ {
		want := noon(year / 4 * 4)
		if got := s.Last(time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC)); !got.Equal(want) {
			t.Errorf("at the end of %d the last tick is %s, want %s", year, got, want)
		}
	}
}

// A schedule that ticks once goes on to tick for ever. The rarest ones are those of one day of the year if it is a
// Sunday. The dates repeat after 400 years.
func TestNoScheduleEverStops(t *testing.T) {
	longest, rarest := 0, ""
	for day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() == 2000; day = day.AddDate(0, 0, 1) {
		text := fmt.Sprintf("0 0 %d %d */7", day.Day(), day.Month())
		s, err := job.ParseSchedule(text)
		if err != nil {
			t.Fatal(err)
		}
		for last := s.Next(day); last.Year() < 2500; {
			next := s.Next(last)
			if next.IsZero() || next.Weekday() != time.Sunday || next.Day() != day.Day() || next.Month() != day.Month() {
				t.Fatalf("schedule %q: after %s comes %s", text, last, next)
			}
			if years := next.Year() - last.Year(); years > longest {
				longest, rarest = years, text
			}
			last = next
		}
	}
	if longest != 40 || rarest != "0 0 29 2 */7" {
		t.Errorf("the longest pause is %d years, of %q", longest, rarest)
	}
}

// A fleet that waits for the leap day runs it once, and a process that comes later does not run it again.
func TestALeapDayRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		spec := job.Spec{Name: "x", Schedule: "0 12 29 2 *", Missed: job.MissedAll}
		s, err := job.ParseSchedule(spec.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		first := s.Next(f.now())
		time.Sleep(first.Add(-36 * time.Hour).Sub(f.now()))
		var all []*process
		for range 3 {
			all = append(all, f.start(spec, func(_ *process, _ context.Context, tick job.Tick) error {
				l.begins(tick)
				return nil
			}))
		}
		time.Sleep(4 * 24 * time.Hour)
		for _, p := range all {
			p.stop()
		}
		f.ends.Wait()
		if l.runs != 1 || l.began[first] != 1 {
			t.Errorf("four days around %s had the runs %v, want one of them", first, l.order)
		}
		c := f.start(spec, func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil })
		time.Sleep(time.Hour)
		c.stop()
		f.ends.Wait()
		if l.runs != 1 {
			t.Errorf("a process that came later ran %v", l.order[1:])
		}
	})
}
