package robfigcron_test

import (
	"bytes"
	"context"
	"errors"

	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/robfigcron"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/robfig/cron/v3"
)

// text is a log.
type text struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *text) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

func (l *text) has(part string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.all.String(), part)
}

func newLog() (*text, *slog.Logger) {
	l := &text{}
	return l, slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func yearly(t *testing.T) cron.Schedule {
	t.Helper()
	s, err := cron.ParseStandard("@yearly")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wrap(t *testing.T, c *holdfast.Client, log *slog.Logger) cron.Chain {
	t.Helper()
	w, err := robfigcron.Wrapper(c, job.Spec{Name: "report", Logger: log}, yearly(t))
	if err != nil {
		t.Fatal(err)
	}
	return cron.NewChain(w)
}

// One process runs the tick. Another hears who took it, during the run and after it.
func TestAWrappedJobRunsOncePerTick(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	ca, cb := nodes.Client(t, holdfast.Config{Label: "web-1"}), nodes.Client(t, holdfast.Config{Label: "web-2"})
	log, logger := newLog()
	_, drop := newLog()
	began, finish, ended := make(chan job.Tick, 9), make(chan struct{}), make(chan struct{})
	work := robfigcron.Func(func(ctx context.Context, tick job.Tick) error {
		if lease, ok := holdfast.FromContext(ctx); !ok || lease.Fence() != tick.Fence {
			t.Errorf("the run has the token %d, and the lease %v", tick.Fence, lease)
		}
		began <- tick
		<-finish
		return errors.New("disk full")
	})
	go func() { wrap(t, ca, drop).Then(work).Run(); close(ended) }()
	tick := <-began
	if want := time.Date(time.Now().Year(), 1, 1, 0, 0, 0, 0, time.UTC); !tick.Time.Equal(want) {
		t.Errorf("the run is for %s, want %s", tick.Time, want)
	}
	other := make(chan struct{})
	go func() { wrap(t, cb, logger).Then(work).Run(); close(other) }()
	select {
	case <-other:
	case <-began:
		t.Fatal("the other process runs the tick, too")
	}
	if !log.has("by web-1 (running)") {
		t.Errorf("during the run the other process logs %s", log.all.String())
	}
	close(finish)
	<-ended
	wrap(t, cb, logger).Then(work).Run()
	if !log.has("by web-1 (failed)") || len(began) > 0 {
		t.Errorf("after the run the other process logs %s; %d more runs", log.all.String(), len(began))
	}
	if last, err := job.Last(t.Context(), cb, "report"); err != nil || last.Error != "disk full" {
		t.Errorf("the outcome is %v, %v", last, err)
	}
}

// A run ends with its lock.
func TestARunEndsWithItsLock(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	_, drop := newLog()
	leases, ended := make(chan *holdfast.Lease, 1), make(chan error, 1)
	go wrap(t, nodes.Client(t, holdfast.Config{}), drop).Then(robfigcron.Func(func(ctx context.Context, _ job.Tick) error {
		lease, _ := holdfast.FromContext(ctx)
		leases <- lease
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil
	})).Run()
	nodes.Lose(t, <-leases)
	select {
	case err := <-ended:
		if !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("the context ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the run goes on without its lock")
	}
}

// With retry a run repeats an earlier tick that was interrupted, and then runs its own tick.
func TestARunRepeatsAnEarlierTickFirst(t *testing.T) {
	c := holdfasttest.Start(t, 1).Client(t, holdfast.Config{})
	_, drop := newLog()
	spec := job.Spec{Name: "report", OnCrash: job.CrashRetry, Logger: drop}
	year := time.Date(time.Now().Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	turn, err := spec.Begin(t.Context(), c, year.AddDate(-1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	_ = turn.End(job.ErrInterrupted)
	w, err := robfigcron.Wrapper(c, spec, yearly(t))
	if err != nil {
		t.Fatal(err)
	}
	var ticks []job.Tick
	w(robfigcron.Func(func(_ context.Context, tick job.Tick) error { ticks = append(ticks, tick); return nil })).Run()
	if len(ticks) != 2 || !ticks[0].Time.Equal(year.AddDate(-1, 0, 0)) || ticks[0].Attempt != 2 || !ticks[1].Time.Equal(year) {
		t.Errorf("the runs are %+v", ticks)
	}
}

// A client that is closed in a run logs a warning, and no error.
func TestACloseInARunIsNoError(t *testing.T) {
	client := holdfasttest.Start(t, 1).Client(t, holdfast.Config{})
	log, logger := newLog()
	began, ended := make(chan struct{}), make(chan struct{})
	go func() {
		wrap(t, client, logger).Then(robfigcron.Func(func(ctx context.Context, _ job.Tick) error {
			close(began)
			<-ctx.Done()
			return context.Cause(ctx)
		})).Run()
		close(ended)
	}()
	<-began
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	<-ended
	if log.has("level=ERROR") || !log.has("its client was closed") {
		t.Errorf("the log is %s", log.all.String())
	}
}

// A job without a context runs too. A panic is a result, and goes on to the wrappers around.
func TestOtherJobs(t *testing.T) {
	c := holdfasttest.Start(t, 1).Client(t, holdfast.Config{})
	log, logger := newLog()
	func() {
		defer func() {
			if p := recover(); p != "oh" {
				t.Errorf("recovered %v", p)
			}
		}()
		wrap(t, c, logger).Then(cron.FuncJob(func() { panic("oh") })).Run()
	}()
	if last, err := job.Last(t.Context(), c, "report"); err != nil || last.State != job.Failed || last.Error != "panic: oh" {
		t.Errorf("the outcome is %v, %v", last, err)
	}
	if !log.has("job failed") {
		t.Errorf("the log is %s", log.all.String())
	}
	before := slog.Default()
	slog.SetDefault(logger)
	defer slog.SetDefault(before)
	robfigcron.Func(func(context.Context, job.Tick) error { t.Error("a run without a lock"); return nil }).Run()
	if !log.has("has no lock outside") {
		t.Errorf("a Func outside of a wrapper logs %s", log.all.String())
	}
}

// A scheduler that runs gets a job, in its own syntax and zone.
func TestAddToAScheduler(t *testing.T) {
	client := holdfasttest.Start(t, 1).Client(t, holdfast.Config{})
	zone := time.FixedZone("odd", 5*3600+45*60)
	c := cron.New(cron.WithSeconds(), cron.WithLocation(zone), cron.WithLogger(cron.PrintfLogger(nowhere{})))
	c.Start()
	defer c.Stop()
	_, drop := newLog()
	ticks := make(chan job.Tick, 99)
	note := func(_ context.Context, tick job.Tick) error { ticks <- tick; return nil }
	if _, err := robfigcron.Add(c, client, "* * * * * *", job.Spec{Name: "often", Logger: drop}, note); err != nil {
		t.Fatal(err)
	}
	first, second := <-ticks, <-ticks
	if gap := second.Time.Sub(first.Time); gap <= 0 || gap%time.Second != 0 {
		t.Errorf("the ticks are %s and %s", first.Time, second.Time)
	}
	id, err := robfigcron.Add(c, client, "0 0 0 * * *", job.Spec{Name: "daily", Logger: drop}, note)
	if err != nil {
		t.Fatal(err)
	}
	for id != 0 {
		c.Entry(id).WrappedJob.Run()
		select {
		case tick := <-ticks:
			if tick.Time.Nanosecond() == 0 && tick.Time.In(zone).Format(time.TimeOnly) == "00:00:00" {
				id = 0 // it is the daily one
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the daily job has no tick at midnight of its zone")
		}
	}
}

type nowhere struct{}

func (nowhere) Printf(string, ...any) {}

// "@every" means multiples, on all machines.
func TestEveryIsTheSameOnAllMachines(t *testing.T) {
	client := holdfasttest.Start(t, 1).Client(t, holdfast.Config{})
	_, drop := newLog()
	c := cron.New()
	ticks := make(chan job.Tick, 9)
	id, err := robfigcron.Add(c, client, "@every 7m", job.Spec{Name: "x", Logger: drop}, func(_ context.Context, tick job.Tick) error { ticks <- tick; return nil })
	if err != nil {
		t.Fatal(err)
	}
	c.Entry(id).WrappedJob.Run()
	if tick := <-ticks; tick.Time.Unix()%420 != 0 {
		t.Errorf("the tick is %s", tick.Time)
	}
}

// Bad input gets an error that says what to do, and adds nothing.
func TestBadJobsAreRefused(t *testing.T) {
	client := holdfasttest.Start(t, 1).Client(t, holdfast.Config{})
	c := cron.New()
	for _, bad := range []struct {
		says, text string
		spec       job.Spec
	}{
		{"Name is empty", "@daily", job.Spec{}},
		{"Schedule is @daily; the scheduler decides", "@daily", job.Spec{Name: "a", Schedule: "@daily"}},
		{"Missed is all", "@daily", job.Spec{Name: "a", Missed: job.MissedAll}},
		{"Grace is 1s", "@daily", job.Spec{Name: "a", Grace: time.Second}},
		{"Jitter is 1s", "@daily", job.Spec{Name: "a", Jitter: time.Second}},
		{"expected exactly 5 fields", "daily", job.Spec{Name: "a"}},
		{"from 1s to", "@every 9000h", job.Spec{Name: "a"}},
		{`job "a": the schedule "every 2s": expected exactly 5 fields`, "every 2s", job.Spec{Name: "a"}},
		{"; an interval is written @every 2s", "every 2s", job.Spec{Name: "a"}},
	} {
		if _, err := robfigcron.Add(c, client, bad.text, bad.spec, nothing); err == nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("Add, want %q: %v", bad.says, err)
		}
		if schedule, err := cron.ParseStandard(bad.text); err == nil {
			if _, err := robfigcron.Wrapper(client, bad.spec, schedule); !errors.Is(err, job.ErrBadSpec) || !strings.Contains(err.Error(), bad.says) {
				t.Errorf("Wrapper, want %q: %v", bad.says, err)
			}
		}
	}
	if _, err := robfigcron.Wrapper(client, job.Spec{Name: "a"}, nil); !errors.Is(err, job.ErrBadSpec) {
		t.Errorf("no schedule: %v", err)
	}
	if n := len(c.Entries()); n > 0 {
		t.Errorf("%d jobs were added", n)
	}
}

func nothing(context.Context, job.Tick) error { return nil }
