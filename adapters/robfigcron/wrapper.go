package robfigcron

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
	"github.com/robfig/cron/v3"
)

// longestWait is how long a run waits while an earlier run has the lock.
const longestWait = 2 * time.Second

// Func is a job with a context. It ends when the lock is lost, and after [job.Spec.Timeout]. [holdfast.FromContext]
// returns the lease. Func is a cron.Job, so that Wrapper can wrap it.
//
// A wrapper of another library between Wrapper and a Func hides the Func. Put Wrapper last in the chain.
type Func job.Func

// Run is called if no Wrapper is around the Func. There is no lock then, so it does not run f, and logs an error to
// [slog.Default].
func (f Func) Run() {
	slog.Default().Error("job not run: a robfigcron.Func has no lock outside of a robfigcron.Wrapper; use robfigcron.Add, or cron.NewChain(wrapper).Then(f)")
}

// Wrapper returns a wrapper for one job, which runs each tick of the schedule in one process of the fleet. It is the
// last of a chain:
//
//	schedule, err := cron.ParseStandard("CRON_TZ=Europe/Berlin 30 2 * * *")
//	...
//	wrapper, err := robfigcron.Wrapper(client, job.Spec{Name: "report"}, schedule)
//	...
//	c.Schedule(schedule, cron.NewChain(cron.Recover(logger), wrapper).Then(robfigcron.Func(report)))
//
// All processes of the fleet use the same spec and schedule. The job is a [Func]. Another job runs too, but nothing
// tells it that the lock was lost.
//
// The schedule ticks as often as the job. "@every 5m" means multiples of five minutes, see [job.ParseSchedule]. A
// schedule without a time zone ticks in UTC here; [Add] uses the zone of its scheduler.
//
// The scheduler decides when a run begins, so a Spec with Schedule, Missed, Grace or Jitter is refused. The error
// matches [job.ErrBadSpec].
func Wrapper(client *holdfast.Client, spec job.Spec, schedule cron.Schedule) (cron.JobWrapper, error) {
	if err := check(spec); err != nil {
		return nil, err
	}
	if schedule == nil {
		return nil, fmt.Errorf("%w %q: the schedule is nil; make one with cron.ParseStandard", job.ErrBadSpec, spec.Name)
	}
	ticks, err := ticksOf(schedule, time.UTC)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", job.ErrBadSpec, spec.Name, err)
	}
	r := &runner{client: client, spec: spec, ticks: ticks}
	return r.wrap, nil
}

// check returns why no job of a scheduler can have this Spec.
func check(s job.Spec) error {
	bad := func(field string, value any) error {
		return fmt.Errorf("%w %q: %s is %v; the scheduler decides when a run begins, so leave it out", job.ErrBadSpec, s.Name, field, value)
	}
	switch {
	case s.Schedule != "":
		return bad("Schedule", s.Schedule)
	case s.Missed != "":
		return bad("Missed", s.Missed)
	case s.Grace != 0:
		return bad("Grace", s.Grace)
	case s.Jitter != 0:
		return bad("Jitter", s.Jitter)
	}
	s.Schedule = "@daily" // the other fields
	return s.Check()
}

// runner runs one job.
type runner struct {
	client *holdfast.Client
	spec   job.Spec
	ticks  job.Ticks
}

func (r *runner) wrap(inner cron.Job) cron.Job {
	fn, ok := inner.(Func)
	if ok && fn == nil {
		panic("robfigcron: Wrapper: nil Func")
	}
	if !ok {
		fn = func(context.Context, job.Tick) error { inner.Run(); return nil }
	}
	return cron.FuncJob(func() { r.run(job.Func(fn)) })
}

// run runs the present tick, if this process is the first.
func (r *runner) run(fn job.Func) {
	log := r.spec.Logger
	if log == nil {
		log = r.client.Logger()
	}
	t, wanted, err := r.begin()
	switch {
	case errors.Is(err, job.ErrTaken):
		log.Debug("job not run here", "job", r.spec.Name, "error", err)
		return
	case err != nil:
		log.Warn("job not run here", "job", r.spec.Name, "error", err)
		return
	}
	defer func() {
		if p := recover(); p != nil {
			_ = t.End(fmt.Errorf("panic: %v", p))
			panic(p)
		}
	}()
	err = fn(t.Context(), t.Tick())
	_ = t.End(err) // package job logs the result of the run, and a lost lock
	if t.Tick().Time.Before(wanted) && !errors.Is(err, job.ErrInterrupted) {
		r.run(fn) // it repeated an earlier tick
	}
}

// begin begins the present tick, wanted, or repeats an earlier one.
func (r *runner) begin() (t *job.Turn, wanted time.Time, err error) {
	ctx := context.Background()
	bounded, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	if wanted, err = job.TickNear(bounded, r.client, r.ticks); err == nil {
		t, err = r.spec.BeginWithin(ctx, r.client, wanted, longestWait)
	}
	return t, wanted, err
}
