package job

import (
	"errors"
	"fmt"
	"time"
)

// State is the state of a run.
type State string

// States of a run.
const (
	Running     State = "running"     // it runs, or its process died
	Done        State = "done"        // it ended without an error
	Failed      State = "failed"      // it returned an error
	Crashed     State = "crashed"     // its process died, lost the lock, or could not store the outcome
	Interrupted State = "interrupted" // it was asked to end, and returned an error: see ErrInterrupted
	Reset       State = "reset"       // there was no run: an operator set the tick
	Removed     State = "removed"     // an operator removed the job, or it never ran; a process that has it begins it
	Unreadable  State = "unreadable"  // only in List: the outcome is damaged, or a newer version of Holdfast stored it
)

// Outcome is the result of the last run of a job, and its tick. It is stored as JSON, as the value of the job's lock.
type Outcome struct {
	Tick     time.Time     `json:"tick"`          // the last tick that was taken, in UTC; zero: there was none, see Trigger
	State    State         `json:"state"`         // how its run ended; running: it has not ended, or its process died
	Host     string        `json:"host"`          // label of the client: host name and process id
	Fence    int64         `json:"fence"`         // token of the lock under which the job ran
	Attempt  int           `json:"attempt"`       // 1 for the first run of this tick, and more after crashes and errors
	Started  time.Time     `json:"started"`       // the start of the run, by the nodes' clocks
	Took     time.Duration `json:"took"`          // the duration of the run in ns; 0 while it runs
	Error    string        `json:"error"`         // text of its error, or how it crashed, "" if neither; cut after about 1,000 bytes
	Next     time.Time     `json:"next,omitzero"` // next tick; zero if unknown
	Missed   int           `json:"missed"`        // number of ticks before this one that no process ran
	Spec     string        `json:"spec"`          // hash of the schedule, the policies and the time zone data
	Schedule string        `json:"schedule"`

	Exit     *int      `json:"exit,omitempty"`     // exit code of its command; nil if there was no command, or it has none
	Output   string    `json:"output,omitempty"`   // the end of the output of its command: see [SetResult]
	Failures int       `json:"failures,omitempty"` // the attempts of this tick that failed
	Retry    time.Time `json:"retry,omitzero"`     // when the next attempt of this tick may begin; zero: there is none
	Manual   bool      `json:"manual,omitempty"`   // an operator asked for this run: see [Trigger]
	Book     Book      `json:"book,omitzero"`      // the history, the counts, and what operators did
}

// ErrNoJob means that the value of this lock is not the outcome of a job.
var ErrNoJob = errors.New("the value of this lock is no outcome of a job; another program uses the name, or a newer version of Holdfast")

// unreadable is the error of an outcome of a job that this version cannot read. It matches ErrNoJob.
type unreadable struct{ format int }

func (u unreadable) Error() string {
	if u.format != form {
		return fmt.Sprintf("its outcome has the format %d, and this version of Holdfast reads only format %d; install a newer version here", u.format, form)
	}
	return "its outcome is damaged; give the job another name, or delete the value of its lock on the nodes"
}

func (unreadable) Is(target error) bool { return target == ErrNoJob }

// storable returns an error if an outcome with this tick cannot be stored.
func storable(tick time.Time) error {
	if y := tick.Year(); y < 1 || y > 9999 {
		return fmt.Errorf("the tick is in the year %d; want a year from 1 to 9999", y)
	}
	return nil
}

// String returns the outcome in one line. It has Attempt if this is above 1, Missed if it is not 0,
// the mark of a manual run, and the time of a retry.
func (o Outcome) String() string {
	s := fmt.Sprintf("tick %s: %s on %s", o.Tick.UTC().Format(time.RFC3339), o.State, o.Host)
	if o.Took > 0 {
		s += " after " + o.Took.Round(time.Millisecond).String()
	}
	if o.Attempt > 1 {
		s += fmt.Sprintf(", attempt=%d", o.Attempt)
	}
	if o.Missed > 0 {
		s += fmt.Sprintf(", missed=%d", o.Missed)
	}
	if o.Manual {
		s += ", manual"
	}
	if o.State == Failed && !o.Retry.IsZero() {
		s += ", retry at " + o.Retry.UTC().Format(time.RFC3339)
	}
	if o.Error != "" {
		s += ": " + o.Error
	}
	return s
}

// neverRan reports whether the outcome is only a request for the first run: see [Trigger].
func (o Outcome) neverRan() bool { return o.State == Removed && o.Tick.IsZero() }

// final reports whether the run of this tick is complete, so that no process needs to repeat it.
func (o Outcome) final() bool { return o.State != Running && o.State != Interrupted }
