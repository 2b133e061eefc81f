package job

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func taskOf(t testing.TB, s Spec) *task {
	t.Helper()
	s.Name = "x"
	if s.Schedule == "" {
		s.Schedule = "every 10m"
	}
	got, err := s.prepare(true)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestDecisions(t *testing.T) {
	at := func(minutes float64) time.Time { return noon.Add(time.Duration(minutes * float64(time.Minute))) }
	ran := func(minutes float64, s State) *Outcome { return &Outcome{Tick: at(minutes), State: s, Attempt: 1} }
	once, all := Spec{Missed: MissedOnce}, Spec{Missed: MissedAll}
	retry := Spec{OnCrash: CrashRetry}
	// with returns the outcome of a run that failed, with a retry and a book. Times are in minutes; 99: none.
	with := func(tick, retry, asked, resumed float64, paused bool) *Outcome {
		o := ran(tick, Failed)
		if retry != 99 {
			o.Retry = at(retry)
		}
		if asked != 99 {
			o.Book.Asked = &Action{At: at(asked)}
		}
		if resumed != 99 {
			o.Book.Resumed = at(resumed)
		}
		if paused {
			o.Book.Paused = &Action{At: at(tick)}
		}
		return o
	}
	crashedInPause := ran(0, Running)
	crashedInPause.Book.Paused = &Action{}
	for _, c := range []struct {
		what  string
		spec  Spec
		last  *Outcome
		since float64
		now   float64
		want  string
	}{
		{"the first tick of all", Spec{}, nil, -5, 0.1, "run 0 attempt 1"},
		{"a tick before the first process came", Spec{}, nil, 0.05, 0.1, "-"},
		{"a tick that was taken", Spec{}, ran(0, Done), -5, 0.1, "-"},
		{"the next tick", Spec{}, ran(-10, Failed), -5, 0.1, "run 0 attempt 1"},
		{"a tick that is late", Spec{}, ran(-10, Done), -5, 2, "missed 0"},
		{"a tick that is late by less than Grace", Spec{Grace: 3 * time.Minute}, ran(-10, Done), -5, 2, "run 0 attempt 1"},
		{"after an outage, skip", Spec{}, ran(-60, Done), -99, 0.5, "run 0 attempt 1 missed 5"},
		{"after an outage, once", once, ran(-60, Done), -99, 5, "run 0 attempt 1 missed 5"},
		{"after an outage, all", all, ran(-60, Done), -99, 5, "run -50 attempt 1"},
		{"a crash, skip", Spec{}, ran(0, Running), -99, 5, "crashed"},
		{"a crash, skip, and the next tick", Spec{}, ran(-10, Running), -99, 0.1, "run 0 attempt 1 crashed"},
		{"a crash, retry", retry, ran(0, Running), -99, 5, "run 0 attempt 2"},
		{"an interruption, retry", retry, ran(-20, Interrupted), -99, 0.1, "run -20 attempt 2"},
		{"an interruption, skip", Spec{}, ran(0, Interrupted), -99, 5, "-"},
		{"an error is no crash", retry, ran(0, Failed), -99, 5, "-"},
		{"a tick a little ahead", Spec{}, ran(0, Done), -99, -0.5, "-"},
		{"a tick far ahead", retry, ran(60, Running), -99, 0.1, "ahead 59m54s"},
		{"a tick that an operator set", Spec{}, ran(-10, Reset), -99, 0.1, "run 0 attempt 1"},
		{"a job that was removed", Spec{}, ran(-10, Removed), -99, 0.1, "run 0 attempt 1"},
		{"a retry", Spec{}, with(0, 1, 99, 99, false), -99, 1, "run 0 attempt 2"},
		{"a retry that is not due", Spec{}, with(0, 1, 99, 99, false), -99, 0.9, "-"},
		{"a tick replaces the retry", Spec{}, with(-10, -9, 99, 99, false), -99, 0.1, "run 0 attempt 1"},
		{"a tick that was missed replaces the retry", Spec{}, with(-10, -9, 99, 99, false), -99, 5, "missed 0"},
		{"a request", Spec{}, with(0, 99, 3, 99, false), -99, 3.1, "run 3 attempt 1 manual"},
		{"a request that is too old", Spec{Grace: time.Second}, with(0, 99, 3, 99, false), -99, 13.1, "missed 0"},
		{"a request, and a tick before it", Spec{}, with(-10, 99, 0.1, 99, false), -99, 0.2, "run 0 attempt 1"},
		{"a request after a tick that was missed", Spec{}, with(-20, 99, 5, 99, false), -99, 5.1, "run 5 attempt 1 missed 2 manual"},
		{"a request before the last tick", Spec{}, with(0, 99, -1, 99, false), -99, 0.1, "run 1.6666666666666667e-08 attempt 1 manual"},
		{"a retry and a request", Spec{}, with(0, 1, 0.5, 99, false), -99, 1, "run 0.5 attempt 1 manual"},
		{"a request before the retry", Spec{}, with(0, 5, 0.5, 99, false), -99, 1, "run 0.5 attempt 1 manual"},
		{"a request in a pause", Spec{}, with(0, 99, 3, 99, true), -99, 3.1, "-"},
		{"a pause", once, with(-60, 99, 99, 99, true), -99, 0.1, "-"},
		{"a pause, and a retry", once, with(0, 1, 99, 99, true), -99, 1, "-"},
		{"a pause, and a crash", Spec{}, crashedInPause, -99, 0.1, "crashed"},
		{"a pause, and a crash, retry", retry, crashedInPause, -99, 0.1, "-"},
		{"after a pause", all, with(-60, 99, 99, -5, false), -99, 0.1, "run 0 attempt 1"},
		{"after a pause, no tick", once, with(-60, 99, 99, 0.05, false), -99, 0.1, "-"},
		{"a pause that ended in the future", Spec{}, with(-10, 99, 99, 60, false), -99, 0.1, "run 0 attempt 1"},
	} {
		d := taskOf(t, c.spec).decide(c.last, at(c.since), at(c.now))
		var got []string
		if d.run {
			got = append(got, fmt.Sprintf("run %v attempt %d", d.tick.Sub(noon).Minutes(), d.attempt))
		}
		if !d.run && !d.tick.IsZero() || d.missed > 0 {
			got = append(got, fmt.Sprintf("missed %d", d.missed))
		}
		if d.manual {
			got = append(got, "manual")
		}
		if d.crashed {
			got = append(got, "crashed")
		}
		if d.ahead > 0 {
			got = append(got, "ahead "+d.ahead.String())
		}
		if text := strings.Join(append(got, ""), " "); strings.TrimSpace(text) != c.want && !(text == "" && c.want == "-") {
			t.Errorf("%s: %q; want %q", c.what, text, c.want)
		}
	}
}

func TestBadSpecsAreExplained(t *testing.T) {
	for says, s := range map[string]Spec{
		"Name is empty":                  {Schedule: "every 1h"},
		"there is no schedule":           {Name: "x"},
		`Missed is "never"`:              {Name: "x", Schedule: "every 1h", Missed: "never"},
		`OnCrash is "weep"`:              {Name: "x", Schedule: "every 1h", OnCrash: "weep"},
		"Grace is -1s":                   {Name: "x", Schedule: "every 1h", Grace: -time.Second},
		"Timeout is -1s":                 {Name: "x", Schedule: "every 1h", Timeout: -time.Second},
		"TTL is -1s":                     {Name: "x", Schedule: "every 1h", TTL: -time.Second},
		"Retries is -1":                  {Name: "x", Schedule: "every 1h", Retries: -1},
		"Backoff is -1s":                 {Name: "x", Schedule: "every 1h", Backoff: -time.Second},
		"History is 201; at most 200":    {Name: "x", Schedule: "every 1h", History: 201},
		"Jitter is -1s":                  {Name: "x", Schedule: "every 1h", Jitter: -time.Second},
		"must be shorter than Grace, 1m": {Name: "x", Schedule: "every 1h", Jitter: time.Minute},
	} {
		if err := s.Check(); !errors.Is(err, ErrBadSpec) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want %q", err, says)
		}
	}
}

// An outcome survives its encoding, and always fits into the value of a lock.
func TestAnOutcomeFitsIntoAValue(t *testing.T) {
	for _, text := range []string{"", "disk full", strings.Repeat("x", 5000), strings.Repeat("\x00", 5000), strings.Repeat("\xff", 5000), strings.Repeat("€", 3000)} {
		o := Outcome{Tick: noon, State: Failed, Error: text, Schedule: strings.Repeat("\x01", mostSchedule), Host: strings.Repeat("h", 64)}
		b := encoded(t, o)
		if len(b) > holdfast.MostValue {
			t.Errorf("%d bytes", len(b))
		}
		got, err := decode(b)
		if err != nil || !got.Tick.Equal(noon) || got.State != Failed || len(text) < 100 && got.Error != text || len(text) > 100 && len(got.Error) < 200 {
			t.Errorf("%.20q became %v, %v", text, got, err)
		}
	}
	for _, foreign := range []string{"", "17", "{}", `{"holdfast_job": 2}`, "\xff"} {
		if _, err := decode([]byte(foreign)); !errors.Is(err, ErrNoJob) {
			t.Errorf("%q is a job: %v", foreign, err)
		}
	}
}

// Two versions of a job have different hashes.
func TestHashesTellVersionsApart(t *testing.T) {
	seen := map[string]string{}
	for _, s := range []Spec{
		{}, {Retries: 1}, {Backoff: time.Second}, {Schedule: "every 20m"}, {Missed: MissedAll}, {OnCrash: CrashRetry}, {Grace: time.Second},
		{Schedule: "0 0 * * *"}, {Schedule: "CRON_TZ=Europe/Berlin 0 0 * * *"}, {Schedule: "CRON_TZ=Europe/Paris 0 0 * * *"},
	} {
		task := taskOf(t, s)
		if other := seen[task.hash]; other != "" {
			t.Errorf("%+v has the hash of %s", s, other)
		}
		seen[task.hash] = fmt.Sprintf("%+v", s)
	}
}

// All machines delay a tick equally. Different ticks have different delays.
func TestJitterDependsOnNameAndTickOnly(t *testing.T) {
	a, b := taskOf(t, Spec{Jitter: 30 * time.Second}), taskOf(t, Spec{Jitter: 30 * time.Second})
	delays := map[time.Duration]bool{}
	for i := range 50 {
		tick := noon.Add(time.Duration(i) * time.Minute)
		if a.delay(tick) != b.delay(tick) || a.delay(tick) < 0 || a.delay(tick) >= 30*time.Second {
			t.Errorf("%s and %s", a.delay(tick), b.delay(tick))
		}
		delays[a.delay(tick)] = true
	}
	if len(delays) < 40 {
		t.Errorf("%d different delays of 50 ticks", len(delays))
	}
}
