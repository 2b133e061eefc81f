package job

import (
	"slices"
	"time"
)

// Book is what the nodes keep about a job beside its last run. The counts and times are those of the whole fleet.
type Book struct {
	Runs    map[State]int `json:"runs,omitempty"`    // the runs that ended, by state; attempts that are repeated do not count
	Retried int           `json:"retried,omitempty"` // the attempts that failed and were repeated
	Missed  int           `json:"missed,omitempty"`  // the ticks that no process ran
	Done    time.Time     `json:"done,omitzero"`     // the end of the last run that was done
	Took    time.Duration `json:"took,omitempty"`    // the duration of that run in ns
	Failed  time.Time     `json:"failed,omitzero"`   // the end of the last run that failed or crashed
	Past    []PastRun     `json:"past,omitempty"`    // the runs before the last one, newest first
	Paused  *Action       `json:"paused,omitempty"`  // not nil: no tick is taken: see Pause
	Resumed time.Time     `json:"resumed,omitzero"`  // ticks up to this time do not count as missed
	Asked   *Action       `json:"asked,omitempty"`   // not nil: an operator wants a run now: see Trigger
	Retired *Action       `json:"retired,omitempty"` // not nil: a process has the job in its file no longer
	Audit   []Action      `json:"audit,omitempty"`   // what operators did, newest first; at most MostAudit
}

// MostAudit is the largest number of actions that a Book has.
const MostAudit = 20

// Action is something that an operator did to a job.
type Action struct {
	What string    `json:"what"` // pause, resume, run, remove, reset or retire
	At   time.Time `json:"at"`   // by the nodes' clocks
	By   string    `json:"by"`   // the label of the client: host name and process id
	Note string    `json:"note,omitempty"`
}

// PastRun is a run that has ended.
type PastRun struct {
	Tick    time.Time     `json:"tick"`
	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took"` // in ns; 0 if it is unknown, as for a crash
	State   State         `json:"state"`
	Host    string        `json:"host"`
	Attempt int           `json:"attempt"`
	Exit    *int          `json:"exit,omitempty"`   // the exit code of its command; nil if there was no command, or it has none
	Error   string        `json:"error,omitempty"`  // cut
	Output  string        `json:"output,omitempty"` // the end of the output of its command; older runs lose it first
}

// Result is what a run says about itself beside its error: see [SetResult].
type Result struct {
	Exit   *int   // the exit code of its command; nil if it has none
	Output string // the end of the output of its command: at most MostOutput bytes are stored
}

// run returns the outcome as an entry of the history.
func (o Outcome) run() PastRun {
	return PastRun{Tick: o.Tick, Started: o.Started, Took: o.Took, State: o.State, Host: o.Host, Attempt: o.Attempt, Exit: o.Exit, Error: o.Error, Output: o.Output}
}

// History returns the runs that have ended, newest first. It has the last run, too, if that has ended.
func (o Outcome) History() []PastRun {
	if o.State == Running || o.State == Reset || o.State == Removed {
		return slices.Clone(o.Book.Past)
	}
	return append([]PastRun{o.run()}, o.Book.Past...)
}

// Overdue returns for how long the next tick has been due by now, 0 if it is not. A job that runs, is paused, retired or
// removed is not overdue. Callers subtract the time that a tick may be late.
func (o Outcome) Overdue(now time.Time) time.Duration {
	if o.Next.IsZero() || o.State == Running || o.State == Removed || o.Book.Paused != nil || o.Book.Retired != nil {
		return 0
	}
	due := o.Next
	if o.Book.Resumed.After(due) {
		due = o.Book.Resumed
	}
	return max(0, now.Sub(due))
}
