package sample

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
	"github.com/holdfast-go/holdfast/verdict"
)

// Details reads all that the nodes say about one name. It is safe for concurrent use.
type Details struct {
	Client *holdfast.Client
}

// mostDetails limits one reading.
const mostDetails = 5 * time.Second

// LockDetails is what the nodes say about a lock or a semaphore.
type LockDetails struct {
	Name    string       `json:"name"`
	At      int64        `json:"at"`
	Known   bool         `json:"known"` // false: the holders are not known
	Error   string       `json:"error"` // why they are not known
	Holders []Holder     `json:"holders"`
	Readers int          `json:"readers"`
	Nodes   []NodeAnswer `json:"nodes"`
}

// NodeAnswer is the answer of a node about a lock.
type NodeAnswer struct {
	Addr   string `json:"addr"`
	Said   string `json:"said"`
	Until  int64  `json:"until"`  // the end of the lock there; 0: never, or not held
	Fence  int64  `json:"fence"`  // the token of the holder there; 0 if there is none
	Unsure bool   `json:"unsure"` // the node does not vote
}

// Lock reads a lock, or a semaphore if slots is not 0. name is a name as a State shows it.
func (d *Details) Lock(ctx context.Context, name string, slots int) (*LockDetails, error) {
	real, err := Unquoted(name)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, mostDetails)
	defer cancel()
	var s *holdfast.Status
	if slots > 0 {
		s, err = d.Client.Semaphore(real, slots).Status(bounded)
	} else {
		s, err = d.Client.Status(bounded, real)
	}
	l := &LockDetails{Name: name, At: time.Now().UnixMilli(), Known: err == nil, Holders: []Holder{}, Nodes: []NodeAnswer{}}
	if err != nil {
		l.Error = trimmed(err)
	}
	if s == nil {
		return l, nil
	}
	if err == nil && s.Held {
		l.Readers = s.Readers
		for _, h := range s.Holders {
			l.Holders = append(l.Holders, holderOf(h))
		}
	}
	for _, a := range s.Nodes {
		n := nodeAnswer(a)
		if slots > 0 && a.Held() { // the answer is about one of the slots
			n.Said, n.Until, n.Fence = "some slots are taken", 0, 0
		}
		l.Nodes = append(l.Nodes, n)
	}
	return l, nil
}

func nodeAnswer(a verdict.Answer) NodeAnswer {
	n := NodeAnswer{Addr: printable.Text(a.Node), Fence: a.Fence, Unsure: a.Unsure, Until: millis(a.Until)}
	switch {
	case a.Foreign:
		n.Said = "held by " + foreign
	case a.Held() && a.Readers > 1:
		n.Said = "held by " + printable.Count(a.Readers, "reader")
	case a.Held():
		n.Said = "held by " + verdict.HolderOf(a.Owner, false).String()
		if a.Reason == verdict.ReasonOffered {
			n.Said = "reserved for " + verdict.HolderOf(a.Owner, false).String()
		}
	case a.Reason == verdict.ReasonFreeNoVote:
		n.Said, n.Unsure = "free, but it may have forgotten a holder", true
	default:
		n.Said, _ = clause(a)
	}
	return n
}

// JobDetails is what the nodes keep about a job.
type JobDetails struct {
	Job
	Runs    map[string]int `json:"runs"` // by state
	Retried int            `json:"retried"`
	Attempt int            `json:"attempt"`
	Fence   int64          `json:"fence"`
	Manual  bool           `json:"manual"`
	LastRun int64          `json:"last_took"` // the duration of the last run that was done; -1: not known
	History []Run          `json:"history"`   // newest first
	Audit   []Action       `json:"audit"`     // newest first
}

// Run is a run of a job that has ended.
type Run struct {
	Tick    int64  `json:"tick"`
	Started int64  `json:"started"`
	Took    int64  `json:"took"` // -1 if not known
	State   string `json:"state"`
	Host    string `json:"host"`
	Attempt int    `json:"attempt"`
	Exit    *int   `json:"exit"` // null if it has none
	Error   string `json:"error"`
	Output  string `json:"output"` // with line breaks
	Manual  bool   `json:"manual"` // an operator asked for it
	Missed  int    `json:"missed"` // the ticks before it that no process ran
}

// Action is something that an operator did to a job.
type Action struct {
	What string `json:"what"`
	At   int64  `json:"at"`
	By   string `json:"by"`
	Note string `json:"note"`
}

// Job reads a job. name is a name as a State shows it. The result is nil if there is no such job.
func (d *Details) Job(ctx context.Context, name string) (*JobDetails, error) {
	real, err := Unquoted(name)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, mostDetails)
	defer cancel()
	o, err := jobmetrics.Settle(bounded, d.Client, real)
	if err != nil {
		return nil, errors.New(trimmed(err))
	}
	if o == nil {
		return nil, nil
	}
	now, err := d.Client.Now(bounded)
	if err != nil {
		now = time.Now()
	}
	v := &JobDetails{
		Job:  jobOf(real, *o, now.UnixMilli()),
		Runs: map[string]int{}, Retried: o.Book.Retried, Attempt: o.Attempt, Fence: o.Fence, Manual: o.Manual, LastRun: -1, History: []Run{}, Audit: []Action{},
	}
	for state, n := range o.Book.Runs {
		v.Runs[printable.Text(string(state))] = n
	}
	if !o.Book.Done.IsZero() {
		v.LastRun = o.Book.Took.Milliseconds()
	}
	for _, r := range o.History() {
		run := Run{
			Tick: millis(r.Tick), Started: millis(r.Started), Took: r.Took.Milliseconds(), State: printable.Text(string(r.State)), Host: printable.Text(r.Host),
			Attempt: r.Attempt, Exit: r.Exit, Error: printable.Text(r.Error), Output: lines(r.Output), Manual: r.Manual, Missed: r.Missed,
		}
		if r.Took == 0 {
			run.Took = -1
		}
		v.History = append(v.History, run)
	}
	for _, a := range o.Book.Audit {
		v.Audit = append(v.Audit, Action{printable.Text(a.What), millis(a.At), printable.Text(a.By), printable.Text(a.Note)})
	}
	return v, nil
}

// lines makes a text printable, except for its line breaks.
func lines(s string) string {
	all := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i := range all {
		all[i] = printable.Text(strings.ReplaceAll(all[i], "\t", "    "))
	}
	return strings.Join(all, "\n")
}

// Unquoted returns the name that a State shows as shown. The error says how a quoted name looks.
func Unquoted(shown string) (string, error) {
	if !strings.HasPrefix(shown, `"`) {
		return shown, nil
	}
	name, err := strconv.Unquote(shown)
	if err != nil {
		return "", errors.New("the name begins with a quotation mark, so it must be a quoted text such as \"a\\nb\"")
	}
	return name, nil
}
