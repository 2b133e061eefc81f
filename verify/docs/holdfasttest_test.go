package docs

// These are the examples of jobs and elections in the package's documentation.

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/job"
)

func TestATickRunsOnce(t *testing.T) {
	locks := holdfasttest.Client(t, holdfast.Config{})
	tick, err := locks.Now(t.Context()) // a schedule would name the tick: see job.TickAt
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for range 2 { // two machines
		_, err := job.Once(t.Context(), locks, "report", tick, func(context.Context, job.Tick) error { runs++; return nil })
		if err != nil {
			t.Error(err)
		}
	}
	if runs != 1 {
		t.Errorf("%d runs, want one", runs)
	}
}

func TestALeaderStopsWhenItIsReplaced(t *testing.T) {
	nodes := holdfasttest.Start(t, 1)
	locks := nodes.Client(t, holdfast.Config{})
	ctx, stop := context.WithCancel(t.Context())
	_ = election.New(locks, "writer").Run(ctx, func(ctx context.Context, term election.Term) error {
		lease, _ := holdfast.FromContext(ctx)
		nodes.Lose(t, lease)
		if ctx.Err() == nil {
			t.Error("the leader goes on after the loss")
		}
		stop() // otherwise Run would campaign again
		return nil
	})
}
