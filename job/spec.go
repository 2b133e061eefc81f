package job

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"
)

// Missed says what happens after ticks at which nobody could run the job, for example during an outage.
type Missed string

// These are the values of Missed.
const (
	MissedSkip Missed = "skip" // they are left out
	MissedOnce Missed = "once" // the job runs once, for the last of them
	MissedAll  Missed = "all"  // the job runs for each of them, the oldest first
)

// OnCrash says what happens after a run whose process died, lost the lock or could not store its outcome.
type OnCrash string

// These are the values of OnCrash.
const (
	CrashSkip  OnCrash = "skip"  // the tick is over: the job runs at most once for each tick
	CrashRetry OnCrash = "retry" // another process runs the tick again: the job runs at least once
)

// Spec describes a job. All processes of a fleet use the same Spec.
type Spec struct {
	// Name is the name of the lock, and of the job. Required.
	Name string

	// Schedule says when the job runs: see [ParseSchedule]. Required for [Run].
	Schedule string

	// Missed is what happens after missed ticks.
	// Defaults to MissedSkip.
	Missed Missed

	// OnCrash is what happens after a run that did not end.
	// Defaults to CrashSkip.
	OnCrash OnCrash

	// Grace is how late a tick may begin with MissedSkip. A tick that begins later is missed.
	// Defaults to a minute, or to the time until the next tick if that is shorter.
	Grace time.Duration

	// Timeout limits one run. The context of the run then ends with [ErrTimeout]. 0 means no limit.
	// Defaults to 0.
	Timeout time.Duration

	// Jitter spreads the load: a run begins up to this time after its tick. The delay depends on the name and the tick
	// only, so all machines wait equally long. It must be shorter than Grace.
	// Defaults to 0.
	Jitter time.Duration

	// TTL is the TTL of the lock: the time after which another process can run the job when a runner died.
	// Defaults to the TTL of the client.
	TTL time.Duration

	// Drain, when it is closed, makes [Run] begin no further tick. A run that goes on keeps its context and its lock, its
	// outcome is stored as usual, and then Run returns nil. Close it before a process ends or changes the job, and end the
	// context of Run if the run must end soon. [Spec.Once] ignores it.
	// Defaults to nil: only the context ends Run.
	Drain <-chan struct{}

	// Logger receives one record for each run, and warnings.
	// Defaults to slog.Default().
	Logger *slog.Logger

	// OnOutcome is called in the process that ran the job, after each run. It must return soon.
	// Defaults to a function that does nothing.
	OnOutcome func(Outcome)
}

// ErrBadSpec means that no job can have this Spec. The error names the field, its value and what is allowed.
var ErrBadSpec = errors.New("bad job")

// ErrTimeout is the cause of the end of a run's context after [Spec.Timeout].
var ErrTimeout = errors.New("the job took longer than its timeout")

// Check returns why no job can have this Spec, or nil. The error matches [ErrBadSpec].
func (s Spec) Check() error {
	_, err := s.prepare(true)
	return err
}

// task is a Spec that was checked.
type task struct {
	Spec
	schedule *Schedule // nil: the caller supplies the ticks
	hash     string
}

// prepare checks the Spec and sets defaults.
func (s Spec) prepare(scheduled bool) (*task, error) {
	bad := func(format string, args ...any) (*task, error) {
		return nil, fmt.Errorf("%w %q: %w", ErrBadSpec, s.Name, fmt.Errorf(format, args...))
	}
	if s.Missed == "" {
		s.Missed = MissedSkip
	}
	if s.OnCrash == "" {
		s.OnCrash = CrashSkip
	}
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	if s.OnOutcome == nil {
		s.OnOutcome = func(Outcome) {}
	}
	t := &task{Spec: s}
	switch {
	case s.Name == "":
		return bad("Name is empty; give the job a name")
	case s.Missed != MissedSkip && s.Missed != MissedOnce && s.Missed != MissedAll:
		return bad("Missed is %q; want skip, once or all", s.Missed)
	case s.OnCrash != CrashSkip && s.OnCrash != CrashRetry:
		return bad("OnCrash is %q; want skip or retry", s.OnCrash)
	case s.Grace < 0:
		return bad("Grace is %s; want 0 or more", s.Grace)
	case s.Timeout < 0:
		return bad("Timeout is %s; want 0 or more", s.Timeout)
	case s.Jitter < 0:
		return bad("Jitter is %s; want 0 or more", s.Jitter)
	case s.TTL < 0:
		return bad("TTL is %s; want 0 or more", s.TTL)
	}
	if scheduled || s.Schedule != "" {
		schedule, err := ParseSchedule(s.Schedule)
		if err != nil {
			return bad("%w", err)
		}
		t.schedule = schedule
		if next := schedule.Next(time.Unix(0, 0)); scheduled && s.Jitter > 0 && s.Jitter >= t.grace(next) {
			return bad("Jitter is %s; it must be shorter than Grace, %s", s.Jitter, t.grace(next))
		}
		if gap := schedule.shortest(); scheduled && s.Jitter >= gap && s.Jitter > 0 {
			return bad("Jitter is %s; it must be shorter than the time between two ticks, %s", s.Jitter, gap)
		}
	}
	t.hash = t.fingerprint()
	return t, nil
}

// shortest returns the shortest time between some ticks in a row.
func (s *Schedule) shortest() time.Duration {
	const ticks = 64
	gap := time.Duration(math.MaxInt64)
	last := s.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for range ticks {
		next := s.Next(last)
		if last.IsZero() || next.IsZero() {
			break
		}
		gap, last = min(gap, next.Sub(last)), next
	}
	return gap
}

// grace returns how late a tick may begin.
func (t *task) grace(tick time.Time) time.Duration {
	if t.Grace > 0 {
		return t.Grace
	}
	if next := t.schedule.Next(tick); !next.IsZero() {
		return min(time.Minute, next.Sub(tick))
	}
	return time.Minute
}

// fingerprint returns a hash of everything that decides about ticks: the schedule, what happens after missed ticks and
// crashes, and the changes of the zone's clocks, which depend on the machine's tzdata.
func (t *task) fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n", t.Schedule, t.Missed, t.OnCrash, t.Grace)
	if t.schedule != nil && t.schedule.every == 0 {
		end := time.Date(2038, 1, 1, 0, 0, 0, 0, time.UTC)
		for at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC); at.Before(end); {
			name, offset := at.In(t.schedule.zone).Zone()
			fmt.Fprintf(h, "%d %s %d\n", at.Unix(), name, offset)
			_, change := at.In(t.schedule.zone).ZoneBounds()
			if change.IsZero() {
				break
			}
			at = change
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// delay returns the jitter of a tick.
func (t *task) delay(tick time.Time) time.Duration {
	if t.Jitter == 0 {
		return 0
	}
	sum := sha256.Sum256([]byte(t.Name + tick.UTC().Format(time.RFC3339Nano)))
	n := uint64(0)
	for _, b := range sum[:8] {
		n = n<<8 | uint64(b)
	}
	return time.Duration(n % uint64(t.Jitter))
}
