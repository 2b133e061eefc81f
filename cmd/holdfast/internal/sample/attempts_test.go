package sample

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node"
)

// pastOf returns an outcome as an entry of the history.
func pastOf(o job.Outcome) job.PastRun {
	return job.PastRun{Tick: o.Tick, Started: o.Started, Took: o.Took, State: o.State, Attempt: o.Attempt}
}

// eventsOf returns the events of a job between two outcomes.
func eventsOf(before, now job.Outcome) string {
	a, b := whole(), whole()
	a.SetJobs([]Job{jobOf("report", before, before.Started.UnixMilli()+5000)})
	b.SetJobs([]Job{jobOf("report", now, now.Started.UnixMilli()+5000)})
	var all []string
	for _, e := range happened(a, b) {
		all = append(all, e.Level+": "+e.Text)
	}
	return strings.Join(all, "; ")
}

// A job is done again only after a run that was done. One failure is one event, however many outcomes show it.
func TestEventsOfAJobAreThoseOfItsAttempts(t *testing.T) {
	tick := time.UnixMilli(1_700_000_000_000)
	run := func(state job.State, attempt int, after time.Duration) job.Outcome {
		o := job.Outcome{Tick: tick, State: state, Attempt: attempt, Started: tick.Add(after), Fence: int64(attempt), Next: tick.Add(24 * time.Hour)}
		if state == job.Done || state == job.Failed {
			o.Took = 2 * time.Second
		}
		return o
	}
	failed := run(job.Failed, 1, time.Second)
	failed.Error, failed.Retry, failed.Failures = "exit status 3", tick.Add(10*time.Second), 1
	with := func(o job.Outcome, change func(*job.Outcome)) job.Outcome { change(&o); return o }
	retrying := with(run(job.Running, 2, 10*time.Second), func(o *job.Outcome) {
		o.Failures, o.Book.Retried, o.Book.Past = 1, 1, []job.PastRun{pastOf(failed)}
	})
	crashed := run(job.Crashed, 1, time.Second)
	again := with(run(job.Running, 2, 10*time.Second), func(o *job.Outcome) { o.Book.Retried, o.Book.Past = 1, []job.PastRun{pastOf(crashed)} })
	next := with(run(job.Running, 1, time.Hour), func(o *job.Outcome) {
		o.Tick, o.Book.Failed, o.Book.Past = tick.Add(time.Hour), tick.Add(59*time.Minute), []job.PastRun{pastOf(crashed)}
	})
	reset := job.Outcome{Tick: tick.Add(time.Minute), State: job.Reset, Started: tick.Add(time.Minute), Book: job.Book{Failed: tick.Add(3 * time.Second), Past: []job.PastRun{pastOf(failed)}}}
	afterReset := with(run(job.Running, 1, time.Hour), func(o *job.Outcome) { o.Tick, o.Book = tick.Add(time.Hour), reset.Book })
	paused := func(o *job.Outcome) { o.Book.Paused = &job.Action{What: "pause"} }
	overdue := with(run(job.Done, 1, time.Second), func(o *job.Outcome) { o.Next = tick.Add(-time.Hour) })
	for what, c := range map[string]struct {
		before, now job.Outcome
		want        string
	}{
		"a run fails":                  {run(job.Running, 1, time.Second), failed, "bad: job report failed: exit status 3"},
		"its retry begins":             {failed, retrying, ""},
		"its retry fails":              {retrying, with(run(job.Failed, 2, 10*time.Second), func(o *job.Outcome) { o.Error, o.Book = "exit status 4", retrying.Book }), "bad: job report failed: exit status 4"},
		"its retry is done":            {retrying, with(run(job.Done, 2, 10*time.Second), func(o *job.Outcome) { o.Book = retrying.Book }), "good: job report is done again"},
		"a run and its retry fail":     {run(job.Running, 1, time.Second), with(run(job.Failed, 2, 10*time.Second), func(o *job.Outcome) { o.Book = retrying.Book }), "bad: job report failed"},
		"a run crashes":                {run(job.Running, 1, time.Second), crashed, "bad: job report crashed"},
		"its repetition begins":        {crashed, again, ""},
		"its repetition is done":       {again, with(run(job.Done, 2, 10*time.Second), func(o *job.Outcome) { o.Book = again.Book }), "good: job report is done again"},
		"the next run after a crash":   {crashed, next, ""},
		"a crash that no reading sees": {run(job.Running, 1, time.Second), next, "bad: job report crashed"},
		"an operator sets the tick":    {with(failed, func(o *job.Outcome) { o.Retry = time.Time{} }), reset, ""},
		"the first run after that":     {reset, afterReset, ""},
		"a pause without a name":       {run(job.Done, 1, time.Second), with(run(job.Done, 1, time.Second), paused), "warn: job report was paused by somebody"},
		"the end of a pause":           {with(run(job.Done, 1, time.Second), paused), with(run(job.Done, 1, time.Second), func(o *job.Outcome) { o.Book.Resumed = tick.Add(time.Minute) }), "good: job report was resumed"},
		"the end of a job with pause":  {with(run(job.Done, 1, time.Second), paused), run(job.Done, 1, time.Second), ""},
		"a pause of an overdue job":    {overdue, with(overdue, paused), "warn: job report was paused by somebody"},
		"an overdue job is retired":    {overdue, with(overdue, func(o *job.Outcome) { o.Book.Retired = &job.Action{What: "retire"} }), ""},
		"an overdue job runs":          {overdue, with(run(job.Running, 1, time.Hour), func(o *job.Outcome) { o.Tick = tick.Add(time.Hour) }), "good: job report is no longer overdue"},
	} {
		if got := eventsOf(c.before, c.now); got != c.want {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
}

// The outcome of a run that crashed says running. A list of all jobs does not make it run again.
func TestACrashedRunStaysCrashed(t *testing.T) {
	started := time.UnixMilli(1_700_000_000_000)
	o := job.Outcome{Tick: started, Started: started, State: job.Running, Attempt: 1, Fence: 7}
	for what, c := range map[string]struct {
		change func(*job.Outcome)
		token  int64 // of the lock
		want   string
	}{
		"nobody has the lock":            {func(*job.Outcome) {}, 0, "crashed"},
		"an operator has the lock":       {func(*job.Outcome) {}, 8, "crashed"},
		"the run has its lock after all": {func(*job.Outcome) {}, 7, "running"},
		"the next attempt":               {func(o *job.Outcome) { o.Attempt, o.Started, o.Fence = 2, started.Add(time.Second), 8 }, 0, "running"},
		"the run of the next tick":       {func(o *job.Outcome) { o.Tick, o.Started, o.Fence = started.Add(time.Hour), started.Add(time.Hour), 8 }, 8, "running"},
		"the run has ended well":         {func(o *job.Outcome) { o.State = job.Done }, 0, "done"},
	} {
		found := o
		found.State, found.Error = job.Crashed, "its process died"
		now := o
		c.change(&now)
		j := jobs{known: map[string]Job{"report": jobOf("report", found, 1)}}
		j.take(listed{jobs: map[string]job.Outcome{"report": now}, at: 2}, map[string]int64{"report": c.token})
		if got := j.known["report"]; got.State != c.want || got.Failing != (c.want == "crashed") || c.want == "crashed" && got.Error != "its process died" {
			t.Errorf("%s: the job is %s, failing %t, %q; want %s", what, got.State, got.Failing, got.Error, c.want)
		}
	}
}

// A run that crashed before the first reading is no event, also if a later reading finds the crash.
func TestAnOldCrashIsNoEvent(t *testing.T) {
	started := time.UnixMilli(1_700_000_000_000)
	o := job.Outcome{Tick: started, Started: started, State: job.Running, Attempt: 1, Fence: 7}
	crashed := o
	crashed.State = job.Crashed
	for what, c := range map[string]struct {
		token int64 // of the lock in the first reading
		want  int
	}{"the first list has no lock of it": {0, 0}, "it has its lock at first": {7, 1}} {
		j := jobs{}
		for range 2 { // the second list has the job before a look
			j.take(listed{jobs: map[string]job.Outcome{"report": o}, at: 1}, map[string]int64{"report": c.token})
		}
		a, b := whole(), whole()
		a.SetJobs(j.list())
		b.SetJobs([]Job{j.of("report", crashed, 2, 0)})
		if events := happened(a, b); len(events) != c.want {
			t.Errorf("%s: events %+v, want %d", what, events, c.want)
		}
	}
}

// afterRead is a node that calls a function once, after it has answered that a job runs.
type afterRead struct {
	node.Node
	once *sync.Once
	call func()
}

func (n afterRead) look(r node.Reply) {
	if strings.Contains(r.Value, `"state":"running"`) {
		n.once.Do(n.call)
	}
}

func (n afterRead) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	replies := n.Node.EvalSHA(ctx, calls)
	for _, r := range replies {
		n.look(r)
	}
	return replies
}

func (n afterRead) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	r := n.Node.Eval(ctx, text, call, load...)
	n.look(r)
	return r
}

// A run may end after its outcome was read, and before the question about its lock. It has not crashed then.
func TestARunThatEndsDuringALookHasNotCrashed(t *testing.T) {
	for what, look := range map[string]func(*holdfast.Client) (string, error){
		"the page of the job": func(c *holdfast.Client) (string, error) {
			j, err := (&Details{Client: c}).Job(t.Context(), "report")
			if err != nil {
				return "", err
			}
			return j.State, nil
		},
		"a reading without its lock": func(c *holdfast.Client) (string, error) {
			j := jobs{known: map[string]Job{"report": {State: "running"}}, next: time.Now().Add(time.Hour)}
			_, _, _ = j.read(t.Context(), c, &State{At: time.Now().UnixMilli()})
			return j.known["report"].State, nil
		},
	} {
		nodes := holdfasttest.Start(t, 1)
		runs := nodes.Client(t, holdfast.Config{})
		began, end, ended := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			_, err := job.Spec{Name: "report"}.Once(t.Context(), runs, time.Now(), func(context.Context, job.Tick) error { close(began); <-end; return nil })
			ended <- err
		}()
		<-began
		n := nodes.Open(t)
		n[0] = afterRead{n[0], new(sync.Once), func() {
			close(end)
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}}
		reads, err := holdfast.New(holdfast.Config{Nodes: n, Window: holdfasttest.Window, NodeTimeout: holdfasttest.NodeTimeout, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		redistest.Eventually(t, 30*time.Second, "votes", func() bool { return voting(t, reads) })
		if state, err := look(reads); err != nil || state != "done" {
			t.Errorf("%s: the run is %q, %v; want done", what, state, err)
		}
		_ = reads.Close()
	}
}

// voting reports whether a call about a lock gets an answer.
func voting(t *testing.T, c *holdfast.Client) bool {
	_, err := c.Status(t.Context(), "another")
	return err == nil
}

// A run fails. The page calls the job failing until a run is done, also while its retry runs.
func TestAJobFailsUntilARunIsDone(t *testing.T) {
	c := holdfasttest.Start(t, 1).Client(t, holdfast.Config{})
	r := &Reader{Client: c}
	defer r.Close()
	spec := job.Spec{Name: "report", Schedule: "every 24h", Retries: 1, Backoff: time.Second, Logger: slog.New(slog.DiscardHandler)}
	over, stop := context.WithCancel(t.Context())
	ended, end := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = job.Run(over, c, spec, func(_ context.Context, tick job.Tick) error {
			if tick.Attempt == 1 {
				return errors.New("exit status 3")
			}
			<-end
			return nil
		})
	}()
	defer func() { stop(); <-ended }()
	redistest.Eventually(t, 30*time.Second, "a request", func() bool { return job.Trigger(t.Context(), c, "report", "") == nil })
	is := func(state string) func(*State) bool {
		return func(s *State) bool { return len(s.Jobs) == 1 && s.Jobs[0].State == state }
	}
	failed := until(t, r, "the failure", is("failed"))
	retry := until(t, r, "the retry", is("running"))
	if j := retry.Jobs[0]; !failed.Jobs[0].Failing || !j.Failing || len(happened(failed, retry)) > 0 {
		t.Errorf("the retry begins: %+v, events %+v", j, happened(failed, retry))
	}
	close(end)
	done := until(t, r, "the success", is("done"))
	if events := happened(retry, done); done.Jobs[0].Failing || len(events) != 1 || events[0].Text != "job report is done again" {
		t.Errorf("the retry is done: %+v, events %+v", done.Jobs[0], events)
	}
}
