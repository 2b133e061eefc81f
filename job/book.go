package job

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Book is what the nodes keep about a job beside its last run. The counts and times are those of the whole fleet. They
// begin with the job, or after the nodes forgot it.
//
// An attempt is one run of a tick. It is repeated after a crash or an interruption with [CrashRetry], and after an
// error with [Spec.Retries]. The sum of Runs and Retried is the number of attempts that ended. A crash counts when the next
// holder of the lock finds it.
type Book struct {
	Runs    map[State]int `json:"runs,omitempty"`    // the runs that ended, by state; attempts that are repeated do not count
	Retried int           `json:"retried,omitempty"` // the attempts that did not succeed and were repeated
	Missed  int           `json:"missed,omitempty"`  // the ticks that no process ran; they count when the next run begins
	Done    time.Time     `json:"done,omitzero"`     // the end of the last run that was done
	Took    time.Duration `json:"took,omitempty"`    // the duration of that run in ns
	Failed  time.Time     `json:"failed,omitzero"`   // the end of the last run that failed, or when a process found the crash of one
	Past    []PastRun     `json:"past,omitempty"`    // the attempts before the last one, newest first: see Spec.History
	Paused  *Action       `json:"paused,omitempty"`  // not nil: no tick is taken: see Pause
	Resumed time.Time     `json:"resumed,omitzero"`  // ticks up to this time are not run, and do not count as missed
	From    time.Time     `json:"from,omitzero"`     // the same for the ticks of Outcome.Schedule: before it, the job had another one, or was gone
	Overdue time.Time     `json:"overdue,omitzero"`  // the last tick, or time of a repetition, that was reported as overdue: see Spec.OnAlert
	Untold  bool          `json:"untold,omitempty"`  // an operator ended the last run or its retry, and nobody has called OnAlert yet
	Told    time.Time     `json:"told,omitzero"`     // the start of the last run whose crash was reported before its repetition: see Spec.OnAlert
	Stuck   time.Time     `json:"stuck,omitzero"`    // when a process found that the last tick is in the future: see ErrFuture
	Asked   *Action       `json:"asked,omitempty"`   // not nil: an operator wants a run now: see Trigger
	Retired *Action       `json:"retired,omitempty"` // not nil: a process has the job in its file no longer: see Retire
	Audit   []Action      `json:"audit,omitempty"`   // what operators did, newest first; at most MostAudit
}

// PastRun is an attempt that has ended.
type PastRun struct {
	Tick    time.Time     `json:"tick"`             // to the microsecond
	Started time.Time     `json:"started"`          // to the microsecond
	Took    time.Duration `json:"took"`             // in ns, to the microsecond; 0 if it is unknown, as for a crash
	State   State         `json:"state"`            // how it ended
	Host    string        `json:"host"`             // as Outcome.Host
	Attempt int           `json:"attempt"`          // as Outcome.Attempt
	Manual  bool          `json:"manual,omitempty"` // as Outcome.Manual
	Missed  int           `json:"missed,omitempty"` // as Outcome.Missed
	Exit    *int          `json:"exit,omitempty"`   // the exit code of its command; nil if there was no command, or it has none
	Error   string        `json:"error,omitempty"`  // why it failed or crashed; cut to a few words in old runs if the book is full
	Output  string        `json:"output,omitempty"` // the end of the output of its command; old runs lose it first
}

// run returns the outcome as an entry of the history.
func (o Outcome) run() PastRun {
	return PastRun{
		Tick: o.Tick, Started: o.Started, Took: o.Took, State: o.State, Host: o.Host, Attempt: o.Attempt, Manual: o.Manual,
		Missed: o.Missed, Exit: o.Exit, Error: o.Error, Output: o.Output,
	}
}

// History returns the attempts that have ended, newest first. It has the last one, too, if that has ended.
func (o Outcome) History() []PastRun {
	if o.State == Running || o.unrun() {
		return slices.Clone(o.Book.Past)
	}
	return append([]PastRun{o.run()}, o.Book.Past...)
}

// Overdue returns for how long the next tick, or the repetition before it, has been due by now, 0 if it is not. If the last
// tick is [Outcome.Ahead], no tick runs: Overdue then counts from the time at which a process found that. A job that runs,
// is paused, retired or removed is not overdue. Callers subtract the time that a tick may be late.
func (o Outcome) Overdue(now time.Time) time.Duration {
	if o.State == Running || o.State == Removed || o.Book.Paused != nil || o.Book.Retired != nil {
		return 0
	}
	due := o.Next
	switch {
	case o.Ahead(now) > 0:
		due = o.Book.Stuck
	case o.repeats() && (due.IsZero() || o.repetition().Before(due)):
		due = o.repetition()
	case due.IsZero():
	case o.Book.Resumed.After(due):
		due = o.Book.Resumed
	}
	if due.IsZero() {
		return 0
	}
	return max(0, now.Sub(due))
}

// outcome returns a past run as the outcome of its tick.
func (r PastRun) outcome() Outcome {
	return Outcome{
		Tick: r.Tick, Started: r.Started, Took: r.Took, State: r.State, Host: r.Host, Attempt: r.Attempt, Manual: r.Manual,
		Missed: r.Missed, Exit: r.Exit, Error: r.Error, Output: r.Output,
	}
}

// repeats reports whether the last attempt ended, and waits for another one of its tick.
func (o Outcome) repeats() bool {
	return (o.State == Failed || o.State == Interrupted) && !o.Retry.IsZero()
}

// repetition returns when the next attempt of the last tick was due: not during a pause, and not while the job was in no
// file.
func (o Outcome) repetition() time.Time {
	due := o.Retry
	for _, from := range []time.Time{o.Book.Resumed, o.Book.From} {
		if from.After(due) {
			due = from
		}
	}
	return due
}

// unrun reports whether the outcome is that of no run: an operator set the tick.
func (o Outcome) unrun() bool { return o.State == Reset || o.State == Removed }

// pending reports whether the book does not count the attempt yet, because the attempt may be repeated.
func (o Outcome) pending() bool { return o.State == Running || !o.Retry.IsZero() }

// counts adds a run that ended, and that nobody repeats. found is the present: the end of a run that crashed is not
// known.
func (b *Book) counts(r PastRun, found time.Time) {
	if b.Runs == nil {
		b.Runs = map[State]int{}
	}
	b.Runs[r.State]++
	end := r.Started.Add(r.Took)
	if storable(end) != nil {
		end = r.Started
	}
	switch r.State {
	case Done:
		b.Done, b.Took = end, r.Took
	case Failed:
		b.Failed = end
	case Crashed:
		b.Failed = found.UTC()
	}
}

// unexplained is the error of a run that crashed in another process.
const unexplained = "its process died or lost the lock, or the outcome was not stored"

// after returns the book of the outcome that follows o, which begins at now. The attempt of o moves to the history. If o
// is Running, it has crashed. repeated is true if the next attempt is one of the same tick. most is the longest history.
func (o *Outcome) after(repeated bool, most int, now time.Time) Book {
	if o == nil {
		return Book{}
	}
	b := o.Book
	b.Runs = maps.Clone(b.Runs)
	b.Untold, b.Stuck = false, time.Time{}
	if !o.unrun() {
		r := o.run()
		if r.State == Running {
			r.State, r.Error = Crashed, cmp.Or(r.Error, unexplained)
		}
		switch {
		case !o.pending():
		case repeated:
			b.Retried++
		default:
			b.counts(r, now)
		}
		b.Past = append([]PastRun{r}, b.Past...)
	}
	b.Past = b.Past[:min(len(b.Past), most)]
	return b
}

// crash marks the run of o as crashed, and counts it. found is the present.
func (o *Outcome) crash(found time.Time) {
	o.State, o.Error = Crashed, cmp.Or(o.Error, unexplained)
	o.Book.Runs = maps.Clone(o.Book.Runs)
	o.Book.counts(o.run(), found)
}
