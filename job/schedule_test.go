package job

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tables below do not depend on the machine
)

// Ticks of nights on which clocks change. Each line is a schedule and the local times of its ticks from midnight to
// six.
func TestTicksWhenClocksChange(t *testing.T) {
	for _, night := range []struct{ zone, day, expr, ticks string }{
		// Clocks go forward: at 02:00 they jump to 03:00.
		{"Europe/Berlin", "2026-03-29", "30 2 * * *", "03:30+02"},
		{"Europe/Berlin", "2026-03-29", "0 2 * * *", "03:00+02"},
		{"Europe/Berlin", "2026-03-29", "0 3 * * *", "03:00+02"},
		{"Europe/Berlin", "2026-03-29", "30 1 * * *", "01:30+01"},
		{"Europe/Berlin", "2026-03-29", "0 * * * *", "00:00+01 01:00+01 03:00+02 04:00+02 05:00+02"},
		{"Europe/Berlin", "2026-03-29", "30 2 * * 1-5", ""}, // a Sunday
		{"America/New_York", "2026-03-08", "30 2 * * *", "03:30-04"},
		{"America/New_York", "2026-03-08", "30 1 * * *", "01:30-05"},
		{"America/New_York", "2026-03-08", "0 * * * *", "00:00-05 01:00-05 03:00-04 04:00-04 05:00-04"},
		// Clocks go back: from 03:00 to 02:00 in Berlin, from 02:00 to 01:00 in New York.
		{"Europe/Berlin", "2026-10-25", "30 2 * * *", "02:30+02"},
		{"Europe/Berlin", "2026-10-25", "0 2,3 * * *", "02:00+02 03:00+01"},
		{"Europe/Berlin", "2026-10-25", "0 3 * * *", "03:00+01"},
		{"Europe/Berlin", "2026-10-25", "0 * * * *", "00:00+02 01:00+02 02:00+02 02:00+01 03:00+01 04:00+01 05:00+01"},
		{"Europe/Berlin", "2026-10-25", "*/30 2 * * *", "02:00+02 02:30+02"},
		{"Europe/Berlin", "2026-10-25", "@daily", "00:00+02"},
		{"America/New_York", "2026-11-01", "30 1 * * *", "01:30-04"},
		{"America/New_York", "2026-11-01", "30 2 * * *", "02:30-05"},
		{"America/New_York", "2026-11-01", "0 * * * *", "00:00-04 01:00-04 01:00-05 02:00-05 03:00-05 04:00-05 05:00-05"},
		{"America/New_York", "2026-11-01", "@hourly", "00:00-04 01:00-04 01:00-05 02:00-05 03:00-05 04:00-05 05:00-05"},
		// A schedule that is a duration does not depend on changes of clocks.
		{"UTC", "2026-03-29", "every 2h", "00:00Z 02:00Z 04:00Z"},
	} {
		expr := "CRON_TZ=" + night.zone + " " + night.expr
		if night.zone == "UTC" {
			expr = night.expr
		}
		s, err := ParseSchedule(expr)
		if err != nil {
			t.Fatal(err)
		}
		zone, _ := time.LoadLocation(night.zone)
		begin, _ := time.ParseInLocation(time.DateOnly, night.day, zone)
		end := time.Date(begin.Year(), begin.Month(), begin.Day(), 6, 0, 0, 0, zone)
		var got []string
		for tick := s.Next(begin.Add(-1)); tick.Before(end); tick = s.Next(tick) {
			got = append(got, tick.In(zone).Format("15:04Z07"))
		}
		if all := strings.Join(got, " "); all != night.ticks {
			t.Errorf("%s %s: %q ticks at %q; want %q", night.zone, night.day, night.expr, all, night.ticks)
		}
	}
}

// Next and Last find the same ticks, wherever they begin.
func TestTicksDoNotDependOnTheBeginning(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, text := range []string{
		"every 1s", "every 90s", "every 7m", "every 24h", "CRON_TZ=Europe/Berlin 30 2 * * *", "CRON_TZ=America/New_York */20 1-3 * * *",
		"CRON_TZ=Australia/Lord_Howe 15 1,2 * * *", "CRON_TZ=America/Sao_Paulo 0 0 * * *", "0 12 29 2 *", "@weekly",
	} {
		s, err := ParseSchedule(text)
		if err != nil {
			t.Fatal(err)
		}
		for range 300 {
			at := time.UnixMilli(1_735_689_600_000 + rng.Int64N(2*366*24*3_600_000)) // 2025 and 2026
			next := s.Next(at)
			if !next.After(at) {
				t.Fatalf("%s: the next tick after %s is %s", text, at.UTC(), next)
			}
			if last := s.Last(next); !last.Equal(next) {
				t.Fatalf("%s: the last tick at the tick %s is %s", text, next, last)
			}
			last := s.Last(at)
			if last.After(at) || !s.Next(last).Equal(next) {
				t.Fatalf("%s: at %s the last tick is %s, the one after it is %s, and the next one is %s", text, at.UTC(), last, s.Next(last), next)
			}
			if early := next.Add(-time.Millisecond); !s.Next(early).Equal(next) {
				t.Fatalf("%s: after %s comes %s and not %s", text, early.UTC(), s.Next(early), next)
			}
		}
	}
}

func TestBadSchedulesAreExplained(t *testing.T) {
	for text, says := range map[string]string{
		"":                               "there is no schedule",
		"every":                          "five fields",
		"every soon":                     "no duration",
		"every 10ms":                     "from 1s to 8784h",
		"every 9000h":                    "from 1s to 8784h",
		"1 2 3":                          "five fields",
		"61 * * * *":                     "61",
		"0 0 30 2 *":                     "never ticks",
		"CRON_TZ=Mars/Base 0 * * * *":    "time zone \"Mars/Base\" is unknown",
		"TZ=":                            "unknown",
		"CRON_TZ=UTC":                    "there is no schedule",
		"TZ=Local 0 0 * * *":             "unknown",
		"CRON_TZ=UTC @every 1h":          "without a time zone",
		"TZ=Europe/Berlin every 1h":      "without a time zone",
		strings.Repeat("1,", 200) + " *": "at most 256",
	} {
		if _, err := ParseSchedule(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v; want %q", text, err, says)
		}
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, text := range []string{"every 15m", "TZ=UTC 0 0 1 1 *", "CRON_TZ=", "@every 1h", "*/5 * * * *", "TZ= @daily", "TZ=UTC @every 1h", "TZ=UTC @every 90s", "0-59/99 * L * *"} {
		f.Add(text)
	}
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSchedule(text)
		if err != nil {
			return
		}
		next := s.Next(at)
		if next.IsZero() {
			return
		}
		if !next.After(at) {
			t.Errorf("%q: %s comes after %s", text, next, at)
		}
		// All machines must find the same tick, although they ask at different times.
		for _, later := range []time.Duration{time.Nanosecond, next.Sub(at) / 2, next.Sub(at) - 1} {
			if n := s.Next(at.Add(later)); !n.Equal(next) {
				t.Errorf("%q: %s later, the next tick is %s and not %s", text, later, n, next)
			}
		}
	})
}
