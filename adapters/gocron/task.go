package holdfastgocron

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/holdfast-go/holdfast/job"
)

// ErrNotLocked means that gocron started a task without its lock: the scheduler has no Locker, or another one, or the
// job has another name or gocron.WithDisabledDistributedJobLocker. The task did not run.
var ErrNotLocked = errors.New("not run, because this Locker did not lock it; give the scheduler the Locker with gocron.WithDistributedLocker, and the job the name with gocron.WithName")

// Task returns a task for a job with this name. fn's context ends when the lock is lost, when gocron stops the job, and
// after [job.Spec.Timeout]. It has the values of the job's context, and [holdfast.FromContext] returns the lease.
//
// The error of fn is stored as the result of the run, and goes to gocron's listeners. If gocron stopped the job before,
// by Shutdown for example, the run was interrupted: the error matches [job.ErrInterrupted], and with [job.CrashRetry] a
// process that waits for the tick runs it again. If fn returns nil after the lock was lost, the error of the task
// matches [holdfast.ErrLost]: the last work of fn may have overlapped with the next run.
func (l *Locker) Task(name string, fn job.Func) gocron.Task {
	if fn == nil {
		panic(fmt.Sprintf("holdfastgocron: Locker.Task %q: nil function", name))
	}
	return gocron.NewTask(func(ctx context.Context) error { return l.task(ctx, name, fn) })
}

// task runs fn in the turn that gocron has begun. If that turn repeats an earlier tick, task begins the next one.
func (l *Locker) task(ctx context.Context, name string, fn job.Func) error {
	t := l.take(name)
	if t == nil {
		return fmt.Errorf("job %q: %w", name, ErrNotLocked)
	}
	err := t.run(ctx, fn)
	for t.Tick().Time.Before(t.wanted) && !errors.Is(err, job.ErrInterrupted) { // it repeated an earlier tick
		_ = t.Unlock(ctx)
		next, refused := l.begin(ctx, name, true)
		if refused != nil {
			return err // package job has stored and logged the result of the earlier tick
		}
		t = next
		err = t.finish(ctx, fn)
	}
	return err
}

// finish runs fn in a turn that gocron does not know, and ends the turn.
func (t *turn) finish(ctx context.Context, fn job.Func) error {
	defer func() { _ = t.Unlock(ctx) }()
	return t.run(ctx, fn)
}

// take returns the turn of a task that begins, or nil. Each turn is for one task: if a process was paused between Lock
// and the task, the lock may be lost, and taken again for the next task.
func (l *Locker) take(name string) *turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.turns[name]
	if t == nil || t.taken {
		return nil
	}
	t.taken = true
	return t
}

// run runs fn until the turn or gocron's context ends.
func (t *turn) run(ctx context.Context, fn job.Func) (err error) {
	defer func() {
		p := recover()
		if p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		t.locker.mu.Lock()
		t.result = err
		t.locker.mu.Unlock()
		if p != nil {
			panic(p)
		}
	}()
	if err = fn.Until(ctx)(t.Context(), t.Tick()); err == nil && t.Context().Err() != nil {
		err = context.Cause(t.Context())
	}
	return err
}

// NewJob adds a job with this name to a scheduler. It makes gocron's definition from the schedule of the Spec, and the
// task with [Locker.Task]. The scheduler must have this Locker. The error is one of NewJob of gocron, or matches
// [ErrUnknownJob].
//
// The schedules of package job and gocron are nearly the same. When clocks change, gocron decides at what time a job of
// a time zone begins.
func (l *Locker) NewJob(s gocron.Scheduler, name string, fn job.Func, options ...gocron.JobOption) (gocron.Job, error) {
	k, err := l.spec(name)
	if err != nil {
		return nil, err
	}
	if fn == nil {
		return nil, fmt.Errorf("%w %q: the function is nil; give the work of the job", job.ErrBadSpec, name)
	}
	definition, start := define(k.schedule)
	added := append([]gocron.JobOption{gocron.WithName(name)}, start...)
	return s.NewJob(definition, l.Task(name, fn), append(added, options...)...)
}

// define returns the definition of a schedule for gocron.
func define(s *job.Schedule) (gocron.JobDefinition, []gocron.JobOption) {
	text := s.String()
	for _, prefix := range []string{"every ", "@every "} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			if d, err := time.ParseDuration(strings.TrimSpace(rest)); err == nil {
				// The start is in the past, because the scheduler's own clock may differ from this one.
				last := s.Last(time.Now().Add(-d))
				return gocron.DurationJob(d), []gocron.JobOption{gocron.WithStartAt(gocron.WithStartDateTimePast(last))}
			}
		}
	}
	if !strings.HasPrefix(text, "CRON_TZ=") && !strings.HasPrefix(text, "TZ=") {
		text = "CRON_TZ=UTC " + text
	}
	return gocron.CronJob(text, false), nil
}
