package job

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"time"

	"github.com/holdfast-go/holdfast"
)

// Missed says what happens after ticks that no process could run, for example during an outage.
type Missed string

// Values of Missed.
const (
	MissedSkip Missed = "skip" // no process runs them
	MissedOnce Missed = "once" // the job runs once, for the last of these ticks
	MissedAll  Missed = "all"  // the job runs once for each of these ticks, the oldest first
)

// OnCrash says what happens after a run that did not end normally: its process died, lost the lock, or could not
// store the outcome.
type OnCrash string

// Values of OnCrash.
const (
	CrashSkip  OnCrash = "skip"  // no process repeats the tick: the job runs at most once for each tick
	CrashRetry OnCrash = "retry" // another process runs the tick again: the job runs at least once for each tick
)

// MostHistory is the largest value of [Spec.History].
const MostHistory = 200

const usualHistory = 50

// Spec describes a job. All processes of a fleet use the same Spec.
type Spec struct {
	// Name is the name of the job and of its lock. Required.
	Name string

	// Schedule says when the job runs: see [ParseSchedule]. Required for [Run].
	Schedule string

	// Missed says what happens after missed ticks. Defaults to MissedSkip.
	Missed Missed

	// OnCrash says what happens after a run that did not end normally. Defaults to CrashSkip.
	OnCrash OnCrash

	// Grace is how late a tick may begin with MissedSkip. A tick that would begin later is missed, unless a process
	// died with the lock before it took the tick. Defaults to a minute, or to the time until the next tick if that is
	// shorter.
	Grace time.Duration

	// Timeout limits one run. After it, the context of the run ends with the cause [ErrTimeout]. 0 means no limit.
	// Defaults to 0.
	Timeout time.Duration

	// Jitter spreads the load of many jobs: a run begins up to this time after its tick. The delay depends only on
	// the name and the tick, so it is the same on all machines. It must be shorter than Grace. Defaults to 0.
	Jitter time.Duration

	// Retries is how often a tick is run again after runs that returned an error. A later tick that comes due first
	// replaces the retry, so a retry that would come after the next tick is none. A run that panics is not repeated.
	// [Spec.Once] and [Spec.Begin] ignore Retries. Defaults to 0.
	Retries int

	// Backoff is the time between the end of a run that failed and its retry, on any machine of the fleet. Defaults to a
	// minute.
	Backoff time.Duration

	// History is the number of attempts before the last one that the nodes keep: see [Book.Past]. It is at most
	// MostHistory, or negative for none. The nodes keep fewer if their texts are long. Defaults to 50.
	History int

	// Ready reports whether this machine can run the job now. [Run] calls it before it takes the lock for a tick. If it
	// returns an error, this machine leaves its ticks to the others, and calls Ready again every ten seconds. A machine
	// that becomes ready takes a tick that is not later than Grace, if no other machine took it. The Logger gets each new
	// error once. Ready must return soon. Defaults to nil: the machine is always ready.
	Ready func() error

	// TTL is the TTL of the lock. If the process of a run dies, another process can run the job after this time.
	// Defaults to the TTL of the client.
	TTL time.Duration

	// Drain tells [Run] to stop gently. After it is closed, Run begins no further run. A run that has begun keeps its
	// context and its lock, and its outcome is stored as usual. Then Run returns nil. Close it before the process
	// ends or changes the job. If the run must also end soon, end the context of Run. [Spec.Once] ignores Drain.
	// Defaults to nil: only the context ends Run.
	Drain <-chan struct{}

	// Logger receives one record for each run, and warnings. Defaults to the logger of the client:
	// [holdfast.Config.Logger].
	Logger *slog.Logger

	// OnOutcome is called after each run, in the process that ran the job. Nobody calls it for a process that died. It must return soon. Nothing recovers a
	// panic of OnOutcome, but the lock is released. Defaults to a function that does nothing.
	OnOutcome func(Outcome)

	// OnAlert is called for a run that failed or crashed, and for a tick that is overdue. One process of the fleet calls it
	// once for each: the process of a run that failed, and for the others the process that finds it first. For a crash
	// this is the next holder of the lock, usually after the TTL. For an overdue job there is one alert until the next run;
	// a repetition of the last run can be overdue, too, and so can the first tick of a new job. A run that failed and waits
	// for its retry causes no alert, until something drops the retry: a later tick, a request, or one of [Pause], [SetTick]
	// and [Remove]. After [Retire] see [Spec.Retire]. If a store of the nodes fails at that moment, a second process may
	// call OnAlert for the same run. If the process that found it dies at once, nobody calls it.
	//
	// All processes set OnAlert, or none. [Spec.Once] and [Spec.Begin] do not look for overdue ticks. OnAlert must return
	// soon. Defaults to nil: nobody is told.
	OnAlert func(Alert)
}

// ErrBadSpec means that a job cannot have this Spec. The error names the field, its value, and the allowed values.
var ErrBadSpec = errors.New("bad job")

// ErrTimeout is the cause of the end of a run's context after [Spec.Timeout].
var ErrTimeout = errors.New("the job took longer than its timeout")

// Check returns an error if a job cannot have this Spec. The error matches [ErrBadSpec].
func (s Spec) Check() error {
	_, err := s.prepare(true)
	return err
}

// task is a Spec that was checked, with its defaults.
type task struct {
	Spec
	schedule *Schedule // nil: the caller supplies the ticks
	hash     string
}

// noFunction returns the error for a job without a function. Without this check the tick would be taken first, and the
// process would panic then.
func noFunction(name string) error {
	return fmt.Errorf("%w %q: the function is nil; give the work of the job", ErrBadSpec, name)
}

// noContext returns the error for a call with a nil context.
func noContext(call, name string) error {
	return fmt.Errorf("job %q: %s: nil Context", name, call)
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
	if s.OnOutcome == nil {
		s.OnOutcome = func(Outcome) {}
	}
	if s.Backoff == 0 {
		s.Backoff = time.Minute
	}
	if s.History == 0 {
		s.History = usualHistory
	}
	s.History = max(0, s.History)
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
	case s.Retries < 0:
		return bad("Retries is %d; want 0 or more", s.Retries)
	case s.Backoff < 0:
		return bad("Backoff is %s; want 0 or more", s.Backoff)
	case s.History > MostHistory:
		return bad("History is %d; at most %d are kept", s.History, MostHistory)
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
		if scheduled && s.Jitter > 0 {
			if gap := schedule.shortest(); s.Jitter >= gap {
				return bad("Jitter is %s; it must be shorter than the time between two ticks, %s", s.Jitter, gap)
			}
		}
	}
	t.hash = t.fingerprint()
	return t, nil
}

// runner returns a runner of the job on a client.
func (t *task) runner(client *holdfast.Client, fn Func) *runner {
	if t.Logger == nil {
		t.Logger = client.Logger()
	}
	return &runner{task: t, client: client, fn: fn}
}

// shortest returns the shortest time between two successive ticks, among the first 64 ticks of 2026 and the ticks
// around each change of the zone's clock until 2038.
func (s *Schedule) shortest() time.Duration {
	const ticks = 64
	gap := time.Duration(math.MaxInt64)
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	last := s.Next(begin)
	for range ticks {
		next := s.Next(last)
		if last.IsZero() || next.IsZero() {
			break
		}
		gap, last = min(gap, next.Sub(last)), next
	}
	for change := range s.changes(begin) {
		near := s.near(change)
		for i := 1; i < len(near); i++ {
			gap = min(gap, near[i].Sub(near[i-1]))
		}
	}
	return gap
}

// lastChange is the end of the changes of a clock that a Spec regards.
var lastChange = time.Date(2038, 1, 1, 0, 0, 0, 0, time.UTC)

// changes yields begin and all changes of the zone's clock from begin until [lastChange]. It yields nothing for a
// schedule without a clock, such as "every 15m".
func (s *Schedule) changes(begin time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for at := begin; s.every == 0 && at.Before(lastChange) && yield(at); {
			_, change := at.In(s.zone).ZoneBounds()
			if change.IsZero() {
				return
			}
			at = change
		}
	}
}

// grace returns how late this tick may begin.
func (t *task) grace(tick time.Time) time.Duration {
	if t.Grace > 0 {
		return t.Grace
	}
	if next := t.schedule.Next(tick); !next.IsZero() {
		return min(time.Minute, next.Sub(tick))
	}
	return time.Minute
}

// fingerprint returns a hash of everything that decides which ticks run: the schedule, the rules for missed ticks,
// crashes and errors, and the changes of the zone's clock. These changes come from the machine's time zone data. So two
// machines with different data have different hashes, and the fleet logs this.
func (t *task) fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n%d\n%s\n", t.Schedule, t.Missed, t.OnCrash, t.Grace, t.Retries, t.Backoff)
	if t.schedule != nil {
		for at := range t.schedule.changes(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)) {
			name, offset := at.In(t.schedule.zone).Zone()
			fmt.Fprintf(h, "%d %s %d\n", at.Unix(), name, offset)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// delay returns the delay of a tick that Jitter causes.
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
