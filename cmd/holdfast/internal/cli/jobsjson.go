package cli

import (
	"maps"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

type jobJSON struct {
	Name         string            `json:"name"`        // each byte that is not UTF-8 is U+FFFD here
	NameQuoted   string            `json:"name_quoted"` // as a Go string in ASCII, which is different for any two names
	Tick         *string           `json:"tick"`
	State        string            `json:"state"`
	Host         *string           `json:"host"`
	Fence        *int64            `json:"fence"`
	Attempt      int               `json:"attempt"`
	Manual       bool              `json:"manual"`
	Missed       int               `json:"missed"`
	Started      *string           `json:"started"`
	TookMS       *int64            `json:"took_ms"` // null while the job runs
	Exit         *int              `json:"exit"`    // the exit code of its command; null if it has none
	Error        *string           `json:"error"`
	Output       *string           `json:"output"` // the end of the output of its command; null if none is stored
	Retry        *string           `json:"retry"`  // when another attempt of this tick begins; else null
	Next         *string           `json:"next"`
	OverdueS     int64             `json:"overdue_s"`     // for how long the next tick has been due, in s; 0 up to a minute
	RunningSince *string           `json:"running_since"` // null if it does not run
	Schedule     *string           `json:"schedule"`
	Spec         *string           `json:"spec"` // a hash of the schedule, its policies and the time zone data
	Runs         map[job.State]int `json:"runs"` // the runs that ended, by state
	Retried      int               `json:"retried"`
	MissedTotal  int               `json:"missed_total"`
	LastSuccess  *string           `json:"last_success"`
	LastFailure  *string           `json:"last_failure"`
	Paused       *actionJSON       `json:"paused"`  // null: it is not paused
	Asked        *actionJSON       `json:"asked"`   // null: no run was asked for
	Retired      *actionJSON       `json:"retired"` // null: it is in the file of a cron, or never was
	Audit        []actionJSON      `json:"audit"`
	History      []attemptJSON     `json:"history"` // null without --history
}

type actionJSON struct {
	What string  `json:"what"`
	At   *string `json:"at"`
	By   string  `json:"by"`
	Note *string `json:"note"`
}

type attemptJSON struct {
	Tick    *string   `json:"tick"`
	Started *string   `json:"started"`
	TookMS  int64     `json:"took_ms"`
	State   job.State `json:"state"`
	Host    string    `json:"host"`
	Attempt int       `json:"attempt"`
	Manual  bool      `json:"manual"`
	Exit    *int      `json:"exit"`
	Error   *string   `json:"error"`
	Output  *string   `json:"output"`
}

func jobsJSON(jobs map[string]job.Outcome, now time.Time, history bool) []jobJSON {
	list := []jobJSON{}
	for _, name := range byUrgency(jobs, now) {
		o := jobs[name]
		b := o.Book
		j := jobJSON{
			Name: name, NameQuoted: strconv.QuoteToASCII(name), Tick: instant(o.Tick), State: string(o.State), Host: text(o.Host),
			Fence: number(o.Fence), Attempt: o.Attempt, Manual: o.Manual, Missed: o.Missed, Started: instant(o.Started), Exit: o.Exit,
			Error: text(o.Error), Output: text(o.Output), Next: instant(o.Next), OverdueS: int64(overdueFor(o, now) / time.Second),
			Schedule: text(o.Schedule), Spec: text(o.Spec), Runs: map[job.State]int{}, Retried: b.Retried, MissedTotal: b.Missed,
			LastSuccess: instant(b.Done), LastFailure: instant(b.Failed), Paused: actionJSONOf(b.Paused), Asked: actionJSONOf(b.Asked),
			Retired: actionJSONOf(b.Retired), Audit: []actionJSON{},
		}
		maps.Copy(j.Runs, b.Runs)
		if o.State == job.Done || o.State == job.Failed || o.State == job.Interrupted {
			ms := o.Took.Milliseconds()
			j.TookMS = &ms
		}
		if o.State == job.Running {
			j.RunningSince = instant(o.Started)
		}
		if retries(o) {
			j.Retry = instant(o.Retry)
		}
		for _, a := range b.Audit {
			j.Audit = append(j.Audit, *actionJSONOf(&a))
		}
		if history {
			j.History = []attemptJSON{}
			for _, r := range o.History() {
				j.History = append(j.History, attemptJSON{
					Tick: instant(r.Tick), Started: instant(r.Started), TookMS: r.Took.Milliseconds(), State: r.State, Host: r.Host,
					Attempt: r.Attempt, Manual: r.Manual, Exit: r.Exit, Error: text(r.Error), Output: text(r.Output),
				})
			}
		}
		list = append(list, j)
	}
	return list
}

func actionJSONOf(a *job.Action) *actionJSON {
	if a == nil {
		return nil
	}
	return &actionJSON{What: a.What, At: instant(a.At), By: a.By, Note: text(a.Note)}
}
