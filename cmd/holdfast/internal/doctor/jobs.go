package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// longPause is the length of a pause that an operator probably forgot to end.
const longPause = 3 * 24 * time.Hour

// jobs examines the last run of each job.
func (e *exam) jobs(ctx context.Context) {
	if !e.wants("jobs") {
		return
	}
	all, err := job.List(ctx, e.Client)
	if err != nil {
		e.find("jobs", "", Note, "not known: "+unread(err), "mend what the checks answer and votes say; if the user lacks a right, give it those of: holdfast acl --role operator")
	}
	now := time.Now().Add(e.ahead)
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(all)) {
		o := all[name]
		if o.State == job.Running {
			last, err := jobmetrics.Settle(ctx, e.Client, name)
			if err != nil || last == nil {
				continue
			}
			o = *last
		}
		if f, sick := examineJob(name, o, now); sick {
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return int(b.Severity) - int(a.Severity) })
	for _, f := range found[:min(len(found), mostNames)] {
		e.find("jobs", "", f.Severity, f.State, f.Fix)
	}
	switch n := len(found); {
	case n > mostNames:
		e.find("jobs", "", Note, fmt.Sprintf("%d more", n-mostNames), "holdfast jobs shows all")
	case n == 0 && err == nil && len(all) == 0:
		e.find("jobs", "", OK, "there is no job", "")
	case n == 0 && err == nil:
		e.find("jobs", "", OK, inOrder(len(all)), "")
	}
}

func inOrder(jobs int) string {
	if jobs == 1 {
		return "1 job is in order"
	}
	return fmt.Sprintf("%d jobs are in order", jobs)
}

// examineJob returns the worst that there is to say about a job.
func examineJob(name string, o job.Outcome, now time.Time) (f Finding, sick bool) {
	is := func(s Severity, fix, format string, args ...any) (Finding, bool) {
		return Finding{Severity: s, State: fmt.Sprintf("%q: ", name) + fmt.Sprintf(format, args...), Fix: fix}, true
	}
	ago := func(t time.Time) time.Duration { return max(0, now.Sub(t)).Round(time.Second) }
	arg := shell(name)
	j, exists := jobmetrics.Of("", name, o, now)
	paused := o.Book.Paused
	switch {
	case o.State == job.Removed:
		return Finding{}, false
	case o.State == job.Unreadable:
		return is(Warn, "install the newer version of Holdfast on all machines that run it", "not readable, so this version does not run it: %s", printable.Text(o.Error))
	case j.Ahead > 0:
		return is(Warn, "holdfast jobs --reset "+arg, "its last tick, %s, is in the future, so no machine runs it: the clocks of a majority of the nodes were ahead", o.Tick.UTC().Format(time.RFC3339))
	case !exists:
		return is(Note, "nothing, if that was meant; to take it out of the list: holdfast jobs remove "+arg,
			"retired %s ago by %s, which has it in its file no longer", ago(o.Book.Retired.At), printable.Text(o.Book.Retired.By))
	case jobmetrics.Hangs(o, now):
		return is(Warn, fmt.Sprintf("end the command on %s if it hangs: holdfast status %s; or take its lock away: holdfast unlock %s --force", printable.Text(o.Host), arg, arg),
			"it has run for %s on %s%s", j.Running.Round(time.Second), printable.Text(o.Host), usually(j))
	case j.Failed:
		return is(Warn, "holdfast jobs --history "+arg+"; after the repair: holdfast jobs run "+arg,
			"its last run %s %s ago%s", failure(o), ago(j.Failure), reason(o))
	case j.Overdue > jobmetrics.MostLate:
		return is(Warn, "start holdfast cron or cron on the machines of this job, or the program is missing on all of them: see their /readyz or logs; if there is no such job any more: holdfast jobs remove "+arg,
			"its tick of %s is overdue by %s: no machine has run it", o.Next.UTC().Format(time.RFC3339), j.Overdue.Round(time.Second))
	case paused != nil:
		s := Note
		if now.Sub(paused.At) > longPause {
			s = Warn
		}
		return is(s, "holdfast jobs resume "+arg, "paused %s ago by %s%s", ago(paused.At), printable.Text(paused.By), because(paused.Note))
	}
	return Finding{}, false
}

func usually(j jobmetrics.Job) string {
	if j.Took == 0 {
		return ""
	}
	return "; the last good run took " + j.Took.Round(time.Millisecond).String()
}

// lastFailure returns the last attempt that failed or crashed, nil if the nodes do not keep it.
func lastFailure(o job.Outcome) *job.PastRun {
	for _, r := range o.History() {
		if r.State == job.Failed || r.State == job.Crashed {
			return &r
		}
	}
	return nil
}

func failure(o job.Outcome) string {
	if r := lastFailure(o); r != nil {
		return fmt.Sprintf("%s on %s", r.State, printable.Text(r.Host))
	}
	return "failed or crashed"
}

func reason(o job.Outcome) string {
	if r := lastFailure(o); r != nil {
		return because(r.Error)
	}
	return ""
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + printable.Text(text)
}
