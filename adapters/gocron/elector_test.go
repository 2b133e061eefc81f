package holdfastgocron_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast"
	holdfastgocron "github.com/holdfast-go/holdfast/adapters/gocron"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

func leads(e *holdfastgocron.Elector) bool { return e.IsLeader(context.Background()) == nil }

// One process leads, the others name it, and the next one leads when it closes. Close waits for the tasks.
func TestOneProcessLeads(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	a := holdfastgocron.NewElector(nodes.Client(t, holdfast.Config{Label: "web-1"}), "x")
	defer a.Close()
	eventually(t, "a leader", func() bool { return leads(a) })
	b := holdfastgocron.NewElector(nodes.Client(t, holdfast.Config{Label: "web-2"}), "x")
	defer b.Close()
	eventually(t, "an error that names the leader", func() bool {
		err := b.IsLeader(context.Background())
		return errors.Is(err, holdfastgocron.ErrNotLeader) && strings.Contains(err.Error(), `not the leader of "x": web-1 is`)
	})
	s := begin(t, gocron.WithDistributedElector(a))
	began, end, returned := make(chan struct{}, 9), make(chan struct{}), make(chan error, 9)
	_, err := s.NewJob(gocron.DurationJob(time.Hour), a.Task(func(ctx context.Context) error {
		began <- struct{}{}
		<-ctx.Done()
		<-end
		returned <- context.Cause(ctx)
		return nil
	}), gocron.WithStartAt(gocron.WithStartImmediately()))
	if err != nil {
		t.Fatal(err)
	}
	receive(t, began, "task")
	closed := make(chan struct{})
	go func() { a.Close(); close(closed) }()
	eventually(t, "the end of the leadership", func() bool { return !leads(a) })
	// A leader that released its lock too early would be followed within milliseconds.
	for until := time.Now().Add(time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if leads(b) {
			t.Error("the next process leads while a task of the leader runs")
			break
		}
	}
	close(end)
	if err := receive(t, returned, "end of the task"); !errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("the cause of the task's end: %v", err)
	}
	receive(t, closed, "end of Close")
	eventually(t, "the next leader", func() bool { return leads(b) })
	if err := a.IsLeader(t.Context()); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a closed elector: %v", err)
	}
}

// A task ends when the leadership is lost, and the process campaigns again.
func TestATaskEndsWithTheLeadership(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	e := holdfastgocron.NewElector(nodes.Client(t, holdfast.Config{}), "x")
	defer e.Close()
	eventually(t, "a leader", func() bool { return leads(e) })
	s := begin(t, gocron.WithDistributedElector(e))
	began, failed := make(chan *holdfast.Lease, 9), make(chan error, 9)
	_, err := s.NewJob(gocron.DurationJob(time.Hour), e.Task(func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		began <- lease
		<-ctx.Done()
		if leads(e) {
			t.Error("the process leads after the loss")
		}
		return nil
	}), gocron.WithStartAt(gocron.WithStartImmediately()),
		gocron.WithEventListeners(gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) { failed <- err })))
	if err != nil {
		t.Fatal(err)
	}
	nodes.Lose(t, receive(t, began, "task"))
	if err := receive(t, failed, "error of the task"); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("the task returned %v", err)
	}
	eventually(t, "an error that names the next leader", func() bool {
		err := e.IsLeader(context.Background())
		return err != nil && strings.Contains(err.Error(), "holdfasttest.Lose is")
	})
}

// A campaign that can never succeed says why, and a task of another process does not run.
func TestAHopelessCampaign(t *testing.T) {
	nodes := holdfasttest.Start(t, 1)
	e := holdfastgocron.NewElector(nodes.Client(t, holdfast.Config{}), "")
	defer e.Close()
	eventually(t, "the reason", func() bool { return errors.Is(e.IsLeader(context.Background()), holdfast.ErrBadName) })
	failed := make(chan error, 1)
	s := begin(t)
	_, err := s.NewJob(gocron.DurationJob(time.Hour), e.Task(func(context.Context) error { t.Error("a task without leadership"); return nil }),
		gocron.WithStartAt(gocron.WithStartImmediately()),
		gocron.WithEventListeners(gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) { failed <- err })))
	if err != nil {
		t.Fatal(err)
	}
	if err := receive(t, failed, "error of the task"); !errors.Is(err, holdfastgocron.ErrNotLeader) {
		t.Errorf("without leadership: %v", err)
	}
}

// A task that computes on the only processor learns of a loss by the clock, before any goroutine of the lease has run.
func TestATaskLooksAtTheClock(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	client := holdfasttest.Start(t, 1).Client(t, holdfast.Config{Logger: quiet})
	tries := 0
	for late := true; late; tries++ {
		if tries == 10 {
			t.Fatal("this machine is so busy that each task woke too late")
		}
		late = !looksAtTheClock(t, holdfastgocron.NewElector(client, "x", holdfast.WithMaxHold(time.Second)))
	}
}

// looksAtTheClock runs a task over the end of its lease. It returns false if the task woke too late for that.
func looksAtTheClock(t *testing.T, e *holdfastgocron.Elector) bool {
	t.Helper()
	defer e.Close()
	eventually(t, "a leader", func() bool { return leads(e) })
	s, ended := begin(t, gocron.WithDistributedElector(e)), make(chan error, 9)
	inTime := false
	if _, err := s.NewJob(gocron.DurationJob(time.Hour), e.Task(func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		end := lease.Deadline()
		time.Sleep(time.Until(end) - 2*time.Millisecond)
		inTime = time.Now().Before(end)
		for !time.Now().After(end) {
		}
		ended <- ctx.Err()
		return nil
	}), gocron.WithStartAt(gocron.WithStartImmediately())); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, ended, "end of the task"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the deadline Err of the task's context is %v", err)
	}
	return inTime
}
