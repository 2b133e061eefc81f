package jobmetrics_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// A process reads the runs of its own jobs, whoever ran them, and with All those of all others.
func TestAReaderHasTheJobsOfTheFleet(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	a, b := open(t, servers), open(t, servers)
	ran := make(chan struct{}, 1)
	failing := job.Spec{Name: "own", Schedule: "every 1s", OnOutcome: func(job.Outcome) {
		select {
		case ran <- struct{}{}:
		default:
		}
	}}
	ctx, end := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		over <- job.Run(ctx, a, failing, func(context.Context, job.Tick) error { return errors.New("no") })
	}()
	<-ran
	end()
	<-over
	if _, err := (job.Spec{Name: "other"}).Once(t.Context(), a, time.Now().Add(-time.Hour), func(context.Context, job.Tick) error { return nil }); err != nil {
		t.Fatal(err)
	}
	store(t, a, "no job", job.Outcome{}) // not read by name, and no job in the list
	if err := a.Mutex("no job").Do(t.Context(), func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		return lease.Store(ctx, []byte("of another program"))
	}); err != nil {
		t.Fatal(err)
	}

	var own, all jobmetrics.Reader
	all.All = true
	if err := own.Set(b, job.Spec{Name: "own", Schedule: "every 1s"}, job.Spec{Name: "new", Schedule: "every 1s"}); err != nil {
		t.Fatal(err)
	}
	all.Add(b)
	all.Add(a) // of the same nodes: each job is there once
	jobs := own.Read(t.Context())
	if len(jobs) != 2 || jobs[0].Name != "new" || jobs[1].Name != "own" {
		t.Fatalf("the own jobs: %+v", jobs)
	}
	j := jobs[1]
	if j.Cluster != "test" || j.NeverRan || !j.Failed || j.Failure.IsZero() || !j.Success.IsZero() || j.Next.IsZero() || j.Running != 0 {
		t.Errorf("a job that failed: %+v", j)
	}
	if !jobs[0].NeverRan {
		t.Errorf("a job that never ran: %+v", jobs[0])
	}
	list := all.Read(t.Context())
	if len(list) != 2 || named(list, "own") == nil {
		t.Fatalf("all jobs: %+v", list)
	}
	if j := named(list, "other"); j == nil || j.Failed || j.Success.IsZero() || j.Overdue != 0 {
		t.Errorf("a job that was done: %+v", j)
	}
	all.Drop(a)
	all.Drop(b)
	if list := all.Read(t.Context()); len(list) != 0 {
		t.Errorf("after Drop: %+v", list)
	}
}

// A job that the process has since its first tick, and that no process ran, is overdue. The clock of the nodes goes on.
func TestAJobThatNeverRanIsOverdueAfterItsFirstTick(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.StartN(t, 1))
	var r jobmetrics.Reader
	if err := r.Set(c, job.Spec{Name: "x", Schedule: "every 1s"}, job.Spec{Name: "y"}); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, 10*time.Second, "the first tick to be over", func() bool { return named(r.Read(t.Context()), "x").Overdue > 0 })
	if j := named(r.Read(t.Context()), "y"); !j.NeverRan || j.Overdue != 0 {
		t.Errorf("a job without a schedule: %+v", j)
	}
	if err := r.Set(c, job.Spec{Name: "z", Schedule: "at noon"}); err == nil {
		t.Error("a bad schedule is no error")
	}
	if err := r.Set(c); err != nil || len(r.Read(t.Context())) != 0 {
		t.Errorf("the process runs no job now: %v, %+v", err, r.Read(t.Context()))
	}
}

// A run lasts while somebody has the lock. It has crashed if nobody has.
func TestARunWhoseProcessDiedHasCrashed(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.StartN(t, 3))
	running := job.Outcome{Tick: time.Now().Add(-time.Minute), State: job.Running, Attempt: 1, Started: time.Now().Add(-time.Minute), Host: "web-1"}
	store(t, c, "dead", running)
	lease := leasetest.Lock(t, c, "alive")
	defer lease.Unlock(context.Background())
	if err := lease.Store(t.Context(), encoded(t, running)); err != nil {
		t.Fatal(err)
	}
	r := jobmetrics.Reader{All: true}
	r.Add(c)
	list := r.Read(t.Context())
	if j := named(list, "alive"); j == nil || j.Failed || j.Running < 50*time.Second {
		t.Errorf("a run that lasts: %+v", j)
	}
	if j := named(list, "dead"); j == nil || !j.Failed || j.Running != 0 || !j.Failure.Equal(running.Started) {
		t.Errorf("a run that crashed: %+v", j)
	}
	if o, err := jobmetrics.Settle(t.Context(), c, "dead"); err != nil || o.State != job.Crashed || !strings.Contains(o.Error, "its process died or lost the lock") {
		t.Errorf("a run that crashed: %v, %v", o, err)
	}
}

// Many scrapers ask the nodes once. A job keeps its state while the nodes do not answer.
func TestAReadingIsKept(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 1)
	c := open(t, servers)
	store(t, c, "x", job.Outcome{Tick: time.Now(), State: job.Done, Started: time.Now(), Took: time.Second})
	var r jobmetrics.Reader
	if err := r.Set(c, job.Spec{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	first := r.Read(t.Context())
	if len(first) != 1 || first[0].Failed {
		t.Fatalf("%+v", first)
	}
	store(t, c, "x", job.Outcome{Tick: time.Now(), State: job.Failed, Started: time.Now(), Took: time.Second})
	if again := r.Read(t.Context()); len(again) != 1 || again[0].Failed {
		t.Errorf("the second reading asked the nodes: %+v", again)
	}
	servers[0].Kill()
	if err := r.Set(c, job.Spec{Name: "x"}, job.Spec{Name: "y"}); err != nil { // so that it asks
		t.Fatal(err)
	}
	if after := r.Read(t.Context()); len(after) != 1 || after[0].Name != "x" {
		t.Errorf("without nodes: %+v", after)
	}
}

// The counts are those of the fleet. A paused job is not overdue, and a job that was removed or retired has no state.
func TestTheBookOfAJobIsRead(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.StartN(t, 3))
	run := func(name string, tick time.Time, result error) {
		t.Helper()
		if ran, err := (job.Spec{Name: name, Schedule: "every 1h"}).Once(t.Context(), c, tick, func(context.Context, job.Tick) error { return result }); !ran {
			t.Fatalf("%s did not run: %v", name, err)
		}
	}
	now, err := c.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ago := func(hours int) time.Time { return now.Truncate(time.Hour).Add(-time.Duration(hours) * time.Hour) }
	run("x", ago(9), nil)
	run("x", ago(8), errors.New("no"))
	run("x", ago(5), errors.New("no"))
	for _, name := range []string{"paused", "removed", "retired"} {
		run(name, ago(9), errors.New("no"))
	}
	if err := errors.Join(
		job.Pause(t.Context(), c, "paused", ""), job.Remove(t.Context(), c, "removed", ""), job.Retire(t.Context(), c, "retired", ""),
	); err != nil {
		t.Fatal(err)
	}
	r := jobmetrics.Reader{All: true}
	r.Add(c)
	list := r.Read(t.Context())
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	if j := named(list, "x"); j == nil || j.Runs[job.Done] != 1 || j.Runs[job.Failed] != 2 || !j.Failed || j.Overdue < 3*time.Hour || !j.Failure.After(j.Success) {
		t.Errorf("%+v", j)
	}
	if j := named(list, "paused"); j == nil || !j.Paused || j.Overdue != 0 || !j.Failed {
		t.Errorf("%+v", j)
	}
}

// A job whose outcome is of a newer version is in the list, and overdue after its next tick in a process that runs it. So
// is a job whose name another program uses, in that process only.
func TestAJobThatCannotBeReadIsSeen(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.StartN(t, 1))
	for name, value := range map[string]string{"newer": `{"holdfast_job":2}`, "damaged": `{"holdfast_job":1,"book":7}`, "foreign": `{"job":1}`} {
		if err := c.Mutex(name).Do(t.Context(), func(ctx context.Context) error {
			lease, _ := holdfast.FromContext(ctx)
			return lease.Store(ctx, []byte(value))
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := job.Last(t.Context(), c, name); !errors.Is(err, job.ErrNoJob) {
			t.Errorf("%s: %v", name, err)
		}
	}
	jobs, err := job.List(t.Context(), c)
	if err != nil || len(jobs) != 2 || jobs["newer"].State != job.Unreadable || !strings.Contains(jobs["newer"].Error, "the format 2") || !strings.Contains(jobs["damaged"].Error, "damaged") {
		t.Errorf("the jobs are %v, %v", jobs, err)
	}
	var r, other jobmetrics.Reader
	if err := r.Set(c, job.Spec{Name: "newer", Schedule: "every 1s"}, job.Spec{Name: "foreign", Schedule: "every 1s"}); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, 10*time.Second, "the first tick to be over", func() bool { return named(r.Read(t.Context()), "newer").Overdue > 0 })
	if j := named(r.Read(t.Context()), "foreign"); j == nil || !j.Unreadable || j.NeverRan || j.Overdue == 0 {
		t.Errorf("a name of another program: %+v", j)
	}
	other.All = true
	other.Add(c)
	if all := other.Read(t.Context()); len(all) != 2 || !all[0].Unreadable || all[0].Overdue != 0 {
		t.Errorf("in another process: %+v", all)
	}
}

// A request for the first run is no removal: the process that has the job says that it never ran. Others do not have it,
// because its name may be a mistake.
func TestARequestForAFirstRunIsNoRemoval(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.StartN(t, 1))
	if err := job.Trigger(t.Context(), c, "new", ""); err != nil {
		t.Fatal(err)
	}
	var r, other jobmetrics.Reader
	if err := r.Set(c, job.Spec{Name: "new", Schedule: "every 1s"}); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, 10*time.Second, "the first tick to be over", func() bool {
		j := named(r.Read(t.Context()), "new")
		return j != nil && j.NeverRan && j.Overdue > 0
	})
	other.All = true
	other.Add(c)
	if all := other.Read(t.Context()); len(all) != 0 {
		t.Errorf("in another process: %+v", all)
	}
}

// A job was removed, and a process still has it. If nobody runs its next tick, it is overdue in this process.
func TestARemovedJobThatAProcessHasIsDue(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.StartN(t, 1))
	if _, err := (job.Spec{Name: "x"}).Once(t.Context(), c, time.Now().Add(-time.Hour), func(context.Context, job.Tick) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := job.Remove(t.Context(), c, "x", ""); err != nil {
		t.Fatal(err)
	}
	var r, all jobmetrics.Reader
	all.All = true
	all.Add(c)
	if err := r.Set(c, job.Spec{Name: "x", Schedule: "every 1s"}); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, 10*time.Second, "the next tick to be over", func() bool {
		j := named(r.Read(t.Context()), "x")
		return j != nil && j.NeverRan && j.Overdue > 0
	})
	if list := all.Read(t.Context()); len(list) != 0 {
		t.Errorf("a process that does not have it: %+v", list)
	}
}
