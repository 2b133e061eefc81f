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
