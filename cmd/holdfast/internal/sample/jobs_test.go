package sample

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// The first list of jobs fails, for example because the readings before it took the time. Then a job begins.
func TestAJobAfterAFailedList(t *testing.T) {
	nodes := holdfasttest.Start(t, 1)
	c := nodes.Client(t, holdfast.Config{})
	r := &Reader{Client: c}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	defer r.Close()
	if _, _, err := r.jobs.read(ended, c, &State{}); err == "" {
		t.Fatal("a list without an error after its context ended")
	}
	spec := job.Spec{Name: "report", Schedule: "every 1s", Logger: slog.New(slog.DiscardHandler)}
	over, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = job.Run(over, c, spec, func(ctx context.Context, _ job.Tick) error { <-ctx.Done(); return ctx.Err() })
	}()
	defer func() { end(); <-done }()
	if s := until(t, r, "the job", func(s *State) bool { return len(s.Jobs) == 1 }); s.Jobs[0].Name != "report" {
		t.Fatalf("jobs: %+v", s.Jobs)
	}
}

// A list leaves out the jobs that it could not read, and those that began after it. They stay.
func TestAJobStaysThatAListCouldNotHave(t *testing.T) {
	for what, c := range map[string]struct {
		err  error
		read int64
		want int
	}{"it is gone": {nil, 1, 1}, "it began after the list": {nil, 3, 2}, "a part could not be read": {holdfast.ErrUnavailable, 1, 2}} {
		j := jobs{known: map[string]Job{"report": {Name: "report", State: "failed", Read: c.read}}}
		j.take(listed{jobs: map[string]job.Outcome{"backup": {State: job.Done}}, err: c.err, at: 2}, nil)
		if got := len(j.list()); got != c.want {
			t.Errorf("%s: %d jobs, want %d", what, got, c.want)
		}
	}
}

// A request for a run counts until a machine begins it, for ten minutes at most.
func TestARequestIsDropped(t *testing.T) {
	asked := time.UnixMilli(1_700_000_000_000)
	o := job.Outcome{State: job.Done, Book: job.Book{Asked: &job.Action{What: "run", At: asked}}}
	for _, c := range []struct {
		after time.Duration
		want  int64
	}{{time.Minute, asked.UnixMilli()}, {job.AskedFor, 0}} {
		if got := jobOf("report", o, asked.Add(c.after).UnixMilli()).Asked; got != c.want {
			t.Errorf("after %s: %d, want %d", c.after, got, c.want)
		}
	}
	o.Book.Paused = &job.Action{What: "pause"}
	if got := jobOf("report", o, asked.UnixMilli()+1).Asked; got != 0 {
		t.Errorf("of a paused job: %d", got)
	}
}

// The page calls a job overdue from the same moment as holdfast jobs, the doctor and the alerts.
func TestAJobIsOverdueAfterTheCommonBound(t *testing.T) {
	now := time.Now().Truncate(time.Millisecond)
	for late, want := range map[time.Duration]bool{jobmetrics.MostLate: false, jobmetrics.MostLate + time.Millisecond: true} {
		j := jobOf("report", job.Outcome{State: job.Done, Tick: now.Add(-time.Hour), Next: now.Add(-late)}, now.UnixMilli())
		if got := j.Overdue > 0; got != want {
			t.Errorf("%s after its tick the job is overdue: %t, want %t", late, got, want)
		}
	}
}
