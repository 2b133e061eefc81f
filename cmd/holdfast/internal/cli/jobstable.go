package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// overdueFor returns for how long the next tick of a job has been due, 0 if it is not overdue.
func overdueFor(o job.Outcome, now time.Time) time.Duration {
	if d := o.Overdue(now); d > jobmetrics.MostLate && !isGone(o) {
		return d
	}
	return 0
}

// isGone reports whether a job was removed, or left the file of holdfast cron.
func isGone(o job.Outcome) bool { return o.State == job.Removed || o.Book.Retired != nil }

// urgency returns how soon a person should look at a job: 0 is the first.
func urgency(o job.Outcome, now time.Time) int {
	switch {
	case isGone(o):
		return 4
	case overdueFor(o, now) > 0:
		return 0
	case o.State == job.Failed, o.State == job.Crashed, o.State == job.Interrupted, o.State == job.Unreadable:
		return 1
	case o.State == job.Running:
		return 2
	}
	return 3
}

// byUrgency returns the names of the jobs: those that need attention first.
func byUrgency(jobs map[string]job.Outcome, now time.Time) []string {
	return slices.SortedFunc(maps.Keys(jobs), func(a, b string) int {
		return cmp.Or(cmp.Compare(urgency(jobs[a], now), urgency(jobs[b], now)), cmp.Compare(a, b))
	})
}

// jobState returns the state of a job with the words that follow it.
func jobState(o job.Outcome, now time.Time) string {
	state := shown(string(o.State))
	if o.State == job.Removed && o.Tick.IsZero() {
		state = "never ran"
	}
	if overdueFor(o, now) > 0 {
		state += " OVERDUE"
	}
	if o.Book.Paused != nil {
		state += " PAUSED"
	}
	if retries(o) {
		state += " RETRY"
	}
	if o.Book.Asked != nil && o.State != job.Running && now.Sub(o.Book.Asked.At) < job.AskedFor {
		state += " ASKED"
	}
	if o.Book.Retired != nil {
		state += " retired"
	}
	return state
}

// retries reports whether another attempt of the last tick follows.
func retries(o job.Outcome) bool { return o.State == job.Failed && !o.Retry.IsZero() }

// nextOf returns the time of the next run, "" if it is unknown.
func nextOf(o job.Outcome) string {
	switch {
	case retries(o):
		return toSecond(o.Retry)
	case o.Next.IsZero(), o.State == job.Removed:
		return ""
	}
	return toSecond(o.Next)
}

// tookOf returns the duration of a run, "" if it runs or is unknown.
func tookOf(state job.State, took time.Duration) string {
	if state == job.Running || took <= 0 {
		return ""
	}
	return forPeople(took)
}

func printJobs(out io.Writer, jobs map[string]job.Outcome, now time.Time) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "JOB\tLAST TICK\tSTATE\tHOST\tTOOK\tNEXT\tERROR")
	for _, name := range byUrgency(jobs, now) {
		o := jobs[name]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", printable.Quoted(name), toSecond(o.Tick), jobState(o, now),
			shown(o.Host), tookOf(o.State, o.Took), nextOf(o), shown(o.Error))
	}
	return printed(w.Flush())
}

// printJob prints all that is known about one job. With history it adds the last attempts, and with output the end of
// what their commands printed.
func printJob(out io.Writer, name string, o job.Outcome, now time.Time, history, output bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(w, "%s\t%s\n", what, text)
		}
	}
	line(printable.Quoted(name), jobState(o, now))
	line("last tick", toSecond(o.Tick))
	line("host", shown(o.Host))
	if o.Manual {
		line("manual", "yes: an operator asked for this run")
	}
	if !o.Started.IsZero() {
		line("started", toSecond(o.Started))
	}
	line("took", tookOf(o.State, o.Took))
	line("exit code", exitOf(o.Exit))
	if o.Attempt > 1 {
		line("attempt", fmt.Sprint(o.Attempt))
	}
	line("error", shown(o.Error))
	if retries(o) {
		line("retry", toSecond(o.Retry))
	}
	if d := overdueFor(o, now); d > 0 {
		line("next tick", nextOf(o)+", overdue for "+d.Round(time.Second).String())
	} else if !o.Next.IsZero() && o.State != job.Removed {
		line("next tick", toSecond(o.Next))
	}
	line("schedule", shown(o.Schedule))
	b := o.Book
	line("runs", countsOf(b))
	if !b.Done.IsZero() {
		line("last success", toSecond(b.Done)+", took "+forPeople(b.Took))
	}
	if !b.Failed.IsZero() {
		line("last failure", toSecond(b.Failed))
	}
	for _, action := range []*job.Action{b.Paused, b.Asked, b.Retired} {
		if action != nil {
			line(map[string]string{"pause": "paused", "run": "asked", "retire": "retired"}[action.What], actionOf(*action))
		}
	}
	for i, action := range b.Audit {
		line(map[bool]string{true: "audit", false: " "}[i == 0], shown(action.What)+", "+actionOf(action))
	}
	if err := w.Flush(); err != nil {
		return printed(err)
	}
	if !history {
		if output {
			return printed(printOutput(out, o.Output))
		}
		return nil
	}
	return printHistory(out, o, output)
}

// countsOf returns the counts of a job in words.
func countsOf(b job.Book) string {
	var all []string
	for _, state := range slices.Sorted(maps.Keys(b.Runs)) {
		all = append(all, fmt.Sprintf("%d %s", b.Runs[state], shown(string(state))))
	}
	if b.Retried > 0 {
		all = append(all, printable.Count(b.Retried, "attempt")+" repeated")
	}
	if b.Missed > 0 {
		all = append(all, printable.Count(b.Missed, "tick")+" missed")
	}
	return strings.Join(all, ", ")
}

func actionOf(a job.Action) string {
	text := toSecond(a.At) + ", by " + shown(a.By)
	if a.Note != "" {
		text += ": " + shown(a.Note)
	}
	return text
}

// exitOf returns an exit code, "" if there is none.
func exitOf(code *int) string {
	if code == nil {
		return ""
	}
	return strconv.Itoa(*code)
}

// printHistory prints the last attempts, newest first.
func printHistory(out io.Writer, o job.Outcome, output bool) error {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "\nSTARTED\tTOOK\tHOST\tSTATE\tEXIT\tATTEMPT\tTICK\tERROR")
	past := o.History()
	for _, r := range past {
		state := shown(string(r.State))
		if r.Manual {
			state += " (manual)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", toSecond(r.Started), tookOf(r.State, r.Took), shown(r.Host), state,
			exitOf(r.Exit), r.Attempt, toSecond(r.Tick), shown(r.Error))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	i := -2 // the table begins with an empty line and a head
	for line := range strings.Lines(table.String()) {
		if _, err := io.WriteString(out, line); err != nil {
			return printed(err)
		}
		if output && i >= 0 && i < len(past) {
			if err := printOutput(out, past[i].Output); err != nil {
				return printed(err)
			}
		}
		i++
	}
	return nil
}

// printOutput prints the output of a command with a mark before each line.
func printOutput(out io.Writer, output string) error {
	for line := range strings.Lines(output) {
		if _, err := fmt.Fprintf(out, "  | %s\n", shown(strings.TrimRight(line, "\r\n"))); err != nil {
			return err
		}
	}
	return nil
}
