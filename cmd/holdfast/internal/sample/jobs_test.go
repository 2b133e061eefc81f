package sample

import (
	"context"
	"log/slog"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/job"
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
