package holdfastgocron

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
)

// ErrUnknownJob means that the Locker has no [job.Spec] of this name. The error lists the names that it has.
var ErrUnknownJob = errors.New("unknown job; give NewLocker a Spec of this name, and the job the name with gocron.WithName")

// longestWait is how long a run waits while an earlier run has the lock. gocron plans the next run of the job only
// after that.
const longestWait = 2 * time.Second

// Locker lets one process of a fleet run each tick of a job. It is a gocron.Locker: pass it to
// gocron.WithDistributedLocker. It is safe for concurrent use.
type Locker struct {
	client *holdfast.Client
	jobs   map[string]known

	mu    sync.Mutex
	turns map[string]*turn // the runs of this process, by name. The lock allows one run for each name
}

var _ gocron.Locker = (*Locker)(nil)

type known struct {
	spec     job.Spec
	schedule *job.Schedule
}

// turn is a run between Lock and Unlock.
type turn struct {
	*job.Turn
	locker *Locker
	name   string
	wanted time.Time // the tick for which gocron called. With CrashRetry the turn may repeat an earlier one
	taken  bool      // a task runs in it, or has run. Guarded by locker.mu
	result error     // the result of the task. Guarded by locker.mu
}

// NewLocker returns a Locker for these jobs. All processes of the fleet use the same specs. gocron decides when a run
// begins, so a Spec with Missed, Grace or Jitter is refused. With [job.CrashRetry] the other processes wait for the end
// of each run, and plan their next run after that.
//
// The error matches [job.ErrBadSpec].
func NewLocker(client *holdfast.Client, specs ...job.Spec) (*Locker, error) {
	l := &Locker{client: client, jobs: map[string]known{}, turns: map[string]*turn{}}
	for _, s := range specs {
		if err := s.Check(); err != nil {
			return nil, err
		}
		bad := func(field string, value any) error {
			return fmt.Errorf("%w %q: %s is %v; gocron decides when a run begins, so leave it out", job.ErrBadSpec, s.Name, field, value)
		}
		_, twice := l.jobs[s.Name]
		switch {
		case twice:
			return nil, fmt.Errorf("%w %q: two specs have this name; give each job its own", job.ErrBadSpec, s.Name)
		case s.Missed != "":
			return nil, bad("Missed", s.Missed)
		case s.Grace != 0:
			return nil, bad("Grace", s.Grace)
		case s.Jitter != 0:
			return nil, bad("Jitter", s.Jitter)
		}
		schedule, err := job.ParseSchedule(s.Schedule)
		if err != nil {
			return nil, fmt.Errorf("%w %q: %w", job.ErrBadSpec, s.Name, err)
		}
		l.jobs[s.Name] = known{s, schedule}
	}
	return l, nil
}

// spec returns the job of this name.
func (l *Locker) spec(name string) (known, error) {
	k, ok := l.jobs[name]
	if !ok {
		names := "none"
		if len(l.jobs) > 0 {
			names = strings.Join(slices.Sorted(maps.Keys(l.jobs)), ", ")
		}
		return k, fmt.Errorf("job %q: %w (known: %s)", name, ErrUnknownJob, names)
	}
	return k, nil
}

// Lock takes the present tick of a job. gocron calls it before each run, with the name of the job. If Lock returns an
// error, gocron does not run the job, and passes the error to gocron.AfterLockError.
//
// If another process took the tick, the error is a [*job.TakenError]. If another process runs an earlier tick, Lock
// waits for two seconds; then the error is a [*holdfast.HeldError]. Both name that process. If a process has the lock
// and runs nothing, it may have died: Lock waits until its lease ends. If too few nodes answer, the error matches
// [holdfast.ErrUnavailable].
//
// For a name without a Spec it matches [ErrUnknownJob]. Such a job never runs, so Lock also logs
// the error with the Logger of the client.
func (l *Locker) Lock(ctx context.Context, name string) (gocron.Lock, error) {
	t, err := l.begin(ctx, name, false)
	if errors.Is(err, ErrUnknownJob) { // gocron drops the error if the scheduler has no AfterLockError
		l.client.Logger().ErrorContext(ctx, "gocron cannot run a job", "job", name, "err", err)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// begin does the work of Lock. taken says that the turn is for the task that calls begin, so no other task may take it.
func (l *Locker) begin(ctx context.Context, name string, taken bool) (*turn, error) {
	k, err := l.spec(name)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	tick, err := job.TickNear(bounded, l.client, k.schedule)
	if err != nil {
		return nil, fmt.Errorf("job %q: %w", name, err)
	}
	begun, err := k.spec.BeginWithin(ctx, l.client, tick, longestWait)
	if err != nil {
		return nil, err
	}
	t := &turn{Turn: begun, locker: l, name: name, wanted: tick, taken: taken}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turns[name] = t
	return t, nil
}

// Unlock stores the result of the run and releases the lock. gocron calls it after each run, with the context of the
// job. If the lock was lost, the error matches [holdfast.ErrLost]. If ctx has ended, gocron has stopped the job. The
// result of a task that [Locker.Task] did not make is unknown: the run then counts as interrupted. Unlock waits for the
// nodes for a few seconds at most, also if ctx has ended.
func (t *turn) Unlock(ctx context.Context) error {
	t.locker.mu.Lock()
	if t.locker.turns[t.name] == t {
		delete(t.locker.turns, t.name)
	}
	result := t.result
	if !t.taken && ctx.Err() != nil {
		result = fmt.Errorf("%w by gocron", job.ErrInterrupted)
	}
	t.locker.mu.Unlock()
	if err := t.End(result); err != nil && result == nil {
		return err
	}
	return nil
}
