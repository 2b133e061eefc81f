package cli

import (
	"context"
	"errors"
	"testing"
)

// idleCron is a crond without a job.
func idleCron(ctx context.Context) *crond {
	return &crond{hard: ctx, places: make(chan struct{}, mostHooks), queues: map[string]*hookQueue{}}
}

// The commands of ON_FAILURE of one job run in the order of their alerts. A full queue takes no other one.
func TestHooksOfAJobRunOneAfterTheOther(t *testing.T) {
	t.Parallel()
	d := idleCron(t.Context())
	var turns []<-chan struct{}
	var ends []func()
	for range mostOfJob {
		before, end := d.queueHook("a")
		if end == nil {
			t.Fatalf("the queue takes %d commands, want %d", len(ends), mostOfJob)
		}
		turns, ends = append(turns, before), append(ends, end)
	}
	if _, end := d.queueHook("a"); end != nil {
		t.Fatalf("the queue takes more than %d commands", mostOfJob)
	}
	if _, end := d.queueHook("b"); end == nil {
		t.Error("another job has no queue of its own")
	}
	open := func() (n int) {
		for _, turn := range turns {
			select {
			case <-turn:
				n++
			default:
			}
		}
		return n
	}
	for i, end := range ends {
		if n := open(); n != i+1 {
			t.Errorf("after the end of %d commands, %d have had their turn", i, n)
		}
		end()
	}
	if before, end := d.queueHook("a"); end == nil {
		t.Error("an empty queue takes no command")
	} else if <-before; len(d.queues) != 2 {
		t.Errorf("there are %d queues", len(d.queues))
	}
}

// A machine has a few places for commands of ON_FAILURE. The wait for one ends with cron.
func TestAMachineRunsFewHooksAtATime(t *testing.T) {
	t.Parallel()
	hard, kill := context.WithCancel(t.Context())
	d := idleCron(hard)
	ctx, done := d.hookBound(0)
	defer done()
	before, _ := d.queueHook("a")
	for range mostHooks {
		if err := d.awaitPlace(ctx, before); err != nil {
			t.Fatal(err)
		}
	}
	kill() // the grace of this cron is 0
	if err := d.awaitPlace(ctx, before); !errors.Is(err, errCronEnds) {
		t.Errorf("one more has a place: %v", err)
	}
}
