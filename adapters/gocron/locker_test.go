package holdfastgocron_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast"
	holdfastgocron "github.com/holdfast-go/holdfast/adapters/gocron"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/job"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func newLocker(t *testing.T, c *holdfast.Client, specs ...job.Spec) *holdfastgocron.Locker {
	t.Helper()
	for i := range specs {
		specs[i].Logger = quiet
	}
	l, err := holdfastgocron.NewLocker(c, specs...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// begin starts a scheduler. It ends with the test.
func begin(t *testing.T, options ...gocron.SchedulerOption) gocron.Scheduler {
	t.Helper()
	s, err := gocron.NewScheduler(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Shutdown() })
	s.Start()
	return s
}

func receive[T any](t *testing.T, from <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(20 * time.Second):
		t.Fatalf("no %s", what)
	}
	return v
}

// A job of a real scheduler runs with its tick and lease. The scheduler of another process hears who took the tick, and
// the result is stored.
func TestAJobOfASchedulerRunsOncePerTick(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	spec := job.Spec{Name: "report", Schedule: "@yearly"}
	ca, cb := nodes.Client(t, holdfast.Config{Label: "web-1"}), nodes.Client(t, holdfast.Config{Label: "web-2"})
	a, b := newLocker(t, ca, spec), newLocker(t, cb, spec)
	sa, sb := begin(t, gocron.WithDistributedLocker(a)), begin(t, gocron.WithDistributedLocker(b))
	began, finish, refused := make(chan job.Tick, 9), make(chan struct{}), make(chan error, 9)
	work := func(ctx context.Context, tick job.Tick) error {
		if lease, ok := holdfast.FromContext(ctx); !ok || lease.Fence() != tick.Fence {
			t.Errorf("the run has the token %d, and the lease %v", tick.Fence, lease)
		}
		began <- tick
		<-finish
		return errors.New("disk full")
	}
	ja, err := a.NewJob(sa, "report", work)
	if err != nil {
		t.Fatal(err)
	}
	jb, err := b.NewJob(sb, "report", work, gocron.WithEventListeners(
		gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) { refused <- err })))
	if err != nil {
		t.Fatal(err)
	}
	if err := ja.RunNow(); err != nil {
		t.Fatal(err)
	}
	tick := receive(t, began, "run")
	if want := time.Date(time.Now().Year(), 1, 1, 0, 0, 0, 0, time.UTC); !tick.Time.Equal(want) {
		t.Errorf("the run is for %s, want %s", tick.Time, want)
	}
	for _, state := range []job.State{job.Running, job.Failed} {
		if err := jb.RunNow(); err != nil {
			t.Fatal(err)
		}
		var taken *job.TakenError
		err := receive(t, refused, "refusal")
		if !errors.As(err, &taken) || taken.Last.State != state || !strings.Contains(err.Error(), "by web-1 ("+string(state)+")") {
			t.Errorf("AfterLockError is told: %v", err)
		}
		if state == job.Running {
			close(finish)
			eventually(t, "the outcome", func() bool {
				last, err := job.Last(t.Context(), cb, "report")
				return err == nil && last.State == job.Failed && last.Error == "disk full"
			})
		}
	}
	if len(began) > 0 {
		t.Error("a second run of the tick")
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20s: %s", what)
		}
	}
}

// A task ends with its lock, and its error says so. One that begins without the lock does not run.
func TestATaskEndsWithItsLock(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	l := newLocker(t, nodes.Client(t, holdfast.Config{}), job.Spec{Name: "report", Schedule: "@yearly"})
	s := begin(t, gocron.WithDistributedLocker(l))
	began, failed := make(chan *holdfast.Lease, 9), make(chan error, 9)
	j, err := l.NewJob(s, "report", func(ctx context.Context, _ job.Tick) error {
		lease, _ := holdfast.FromContext(ctx)
		began <- lease
		<-ctx.Done()
		return nil
	}, gocron.WithEventListeners(gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) { failed <- err })))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.RunNow(); err != nil {
		t.Fatal(err)
	}
	nodes.Lose(t, receive(t, began, "run"))
	if err := receive(t, failed, "error of the task"); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("the task returned %v", err)
	}
	bare := begin(t)
	j, err = l.NewJob(bare, "report", func(context.Context, job.Tick) error { t.Error("a run without its lock"); return nil },
		gocron.WithEventListeners(gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) { failed <- err })))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.RunNow(); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, failed, "error of the task"); !errors.Is(err, holdfastgocron.ErrNotLocked) {
		t.Errorf("without a locker: %v", err)
	}
}

// One task runs under a lock. A second scheduler without a Locker, in the same process, cannot use it.
func TestOneTaskRunsUnderALock(t *testing.T) {
	nodes := holdfasttest.Start(t, 1)
	l := newLocker(t, nodes.Client(t, holdfast.Config{}), job.Spec{Name: "report", Schedule: "@yearly"})
	began, finish, failed := make(chan struct{}, 9), make(chan struct{}), make(chan error, 9)
	defer close(finish)
	work := func(context.Context, job.Tick) error {
		began <- struct{}{}
		<-finish
		return nil
	}
	j, err := l.NewJob(begin(t, gocron.WithDistributedLocker(l)), "report", work)
	if err == nil {
		err = j.RunNow()
	}
	if err != nil {
		t.Fatal(err)
	}
	receive(t, began, "run")
	other, err := l.NewJob(begin(t), "report", func(context.Context, job.Tick) error { return nil },
		gocron.WithEventListeners(gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) { failed <- err }),
			gocron.AfterJobRuns(func(uuid.UUID, string) { failed <- nil })))
	if err == nil {
		err = other.RunNow()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := receive(t, failed, "end of the second task"); !errors.Is(err, holdfastgocron.ErrNotLocked) {
		t.Errorf("a second task under the lock of another: %v", err)
	}
}

// gocron's end ends the context of a run, which is then interrupted. A panic is a result.
func TestATaskEndsWithItsScheduler(t *testing.T) {
	nodes := holdfasttest.Start(t, 1)
	c := nodes.Client(t, holdfast.Config{})
	l := newLocker(t, c, job.Spec{Name: "long", Schedule: "@yearly"}, job.Spec{Name: "bad", Schedule: "@yearly"},
		job.Spec{Name: "own", Schedule: "@yearly"})
	s := begin(t, gocron.WithDistributedLocker(l))
	began := make(chan struct{}, 2)
	own, err := s.NewJob(gocron.DurationJob(time.Hour), gocron.NewTask(func(ctx context.Context) { // a task that Locker did not make
		began <- struct{}{}
		<-ctx.Done()
	}), gocron.WithName("own"))
	if err != nil {
		t.Fatal(err)
	}
	var ended atomic.Bool
	long, err := l.NewJob(s, "long", func(ctx context.Context, _ job.Tick) error {
		began <- struct{}{}
		<-ctx.Done()
		ended.Store(true)
		return context.Cause(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	panicked := make(chan any, 1)
	bad, err := l.NewJob(s, "bad", func(context.Context, job.Tick) error { panic("oh") },
		gocron.WithEventListeners(gocron.AfterJobRunsWithPanic(func(_ uuid.UUID, _ string, p any) { panicked <- p })))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(long.RunNow(), bad.RunNow(), own.RunNow()); err != nil {
		t.Fatal(err)
	}
	receive(t, began, "run")
	receive(t, began, "run")
	if p := receive(t, panicked, "panic"); p != "oh" {
		t.Errorf("gocron is told of the panic %v", p)
	}
	eventually(t, "the outcome of a panic", func() bool {
		last, err := job.Last(t.Context(), c, "bad")
		return err == nil && last.State == job.Failed && last.Error == "panic: oh"
	})
	if err := s.Shutdown(); err != nil || !ended.Load() {
		t.Errorf("Shutdown: %v; the run ended: %t", err, ended.Load())
	}
	for _, name := range []string{"long", "own"} {
		if last, err := job.Last(t.Context(), c, name); err != nil || last.State != job.Interrupted {
			t.Errorf("the outcome of %s is %v, %v", name, last, err)
		}
	}
}

// With retry a run repeats an earlier tick that was interrupted, and then runs its own tick.
func TestATaskRepeatsAnEarlierTickFirst(t *testing.T) {
	nodes := holdfasttest.Start(t, 1)
	c := nodes.Client(t, holdfast.Config{})
	spec := job.Spec{Name: "report", Schedule: "@yearly", OnCrash: job.CrashRetry, Logger: quiet}
	year := time.Date(time.Now().Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	turn, err := spec.Begin(t.Context(), c, year.AddDate(-1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	_ = turn.End(job.ErrInterrupted)
	l := newLocker(t, c, spec)
	ticks := make(chan job.Tick, 9)
	j, err := l.NewJob(begin(t, gocron.WithDistributedLocker(l)), "report", func(_ context.Context, tick job.Tick) error { ticks <- tick; return nil })
	if err == nil {
		err = j.RunNow()
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []job.Tick{{Time: year.AddDate(-1, 0, 0), Attempt: 2}, {Time: year, Attempt: 1}} {
		if got := receive(t, ticks, "run"); !got.Time.Equal(want.Time) || got.Attempt != want.Attempt {
			t.Errorf("run %d is %+v, want %+v", i, got, want)
		}
	}
	eventually(t, "the outcome", func() bool {
		last, err := job.Last(t.Context(), c, "report")
		return err == nil && last.State == job.Done && last.Tick.Equal(year)
	})
}

// Bad specs and names get errors that say what to do.
func TestBadJobsAreRefused(t *testing.T) {
	var log bytes.Buffer
	c := holdfasttest.Start(t, 1).Client(t, holdfast.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	good := job.Spec{Name: "a", Schedule: "every 5m"}
	for _, bad := range []struct {
		says  string
		specs []job.Spec
	}{
		{"Name is empty", []job.Spec{{Schedule: "every 5m"}}},
		{"no duration", []job.Spec{{Name: "a", Schedule: "every day"}}},
		{"two specs have this name", []job.Spec{good, good}},
		{"Missed is all; gocron decides", []job.Spec{{Name: "a", Schedule: "every 5m", Missed: job.MissedAll}}},
		{"Grace is 1s", []job.Spec{{Name: "a", Schedule: "every 5m", Grace: time.Second}}},
		{"Jitter is 1s", []job.Spec{{Name: "a", Schedule: "every 5m", Jitter: time.Second}}},
	} {
		if _, err := holdfastgocron.NewLocker(c, bad.specs...); !errors.Is(err, job.ErrBadSpec) || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("want %q: %v", bad.says, err)
		}
	}
	l := newLocker(t, c, good, job.Spec{Name: "b", Schedule: "@daily"})
	if _, err := l.Lock(t.Context(), "main.report"); !errors.Is(err, holdfastgocron.ErrUnknownJob) || !strings.Contains(err.Error(), "(known: a, b)") {
		t.Errorf("an unknown job: %v", err)
	}
	if !strings.Contains(log.String(), `level=ERROR msg="gocron cannot run a job" job=main.report`) { // gocron drops the error
		t.Errorf("the log has %q", log.String())
	}
	if _, err := l.NewJob(begin(t), "c", nil); !errors.Is(err, holdfastgocron.ErrUnknownJob) {
		t.Errorf("an unknown job: %v", err)
	}
}

// gocron's next runs are the ticks of the schedule.
func TestTheDefinitionOfAJob(t *testing.T) {
	c := holdfasttest.Start(t, 1).Client(t, holdfast.Config{})
	for _, text := range []string{"every 7m", "@every 90s", "30 2 * * *", "CRON_TZ=Asia/Kathmandu 0 12 * * *", "@monthly"} {
		l := newLocker(t, c, job.Spec{Name: "x", Schedule: text})
		s := begin(t, gocron.WithDistributedLocker(l))
		schedule, err := job.ParseSchedule(text)
		if err != nil {
			t.Fatal(err)
		}
		j, err := l.NewJob(s, "x", func(context.Context, job.Tick) error { return nil })
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		next, err := j.NextRun()
		if want := schedule.Next(next.Add(-time.Nanosecond)); err != nil || !next.Equal(want) || next.Before(time.Now().Add(-time.Minute)) {
			t.Errorf("%q: the next run is at %s, want %s (%v)", text, next, want, err)
		}
	}
}
