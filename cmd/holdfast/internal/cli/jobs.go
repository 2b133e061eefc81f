package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

const jobsHelp = `jobs shows the last tick of each job: when it was, which machine ran it, how long
it took, its result, and the next tick. Jobs that need attention come first: those
that are overdue, then those that failed or crashed, then those that run. Jobs that
were removed, or that left the file of holdfast cron, are shown only with --all.

The states are running, done, failed (it returned an error), crashed (its machine
died, it lost the lock, or it could not store its result), interrupted (it was
asked to end), reset, removed and unreadable (a newer version of Holdfast stored it).
Some words may follow the state. OVERDUE: the next tick or retry is over by a minute
and no machine has run it, or the last tick is in the future. A job that is in no
crontab any more is OVERDUE, too, and so is one that left the file of holdfast cron in
a restart and not by HUP: for such a job, type holdfast jobs remove NAME. PAUSED: an operator paused the job. RETRY: the next column
is the time of another attempt. ASKED: an operator asked for a run that has not begun.
"never ran" with a NAME is a job of which only such a request is known.

With NAME it shows this job only, with its counts since it began, its last success
and failure, and what operators did to it. --history adds the last attempts, each
with its exit code. With -v they have the end of their output, if cron stored it.

jobs run, pause, resume and remove act on a job. If a job has one of these names,
write -- before it: holdfast jobs -- run.

--reset sets the last tick of NAME to the present, as if that tick had been run.
It is needed if the last tick is in the future, because the clocks of a majority
of the nodes were ahead. --reset refuses a job that never ran, because its name may
be wrong. With --new it begins such a job: this is needed on a new node set while a
node of the set is down. --reset --new also replaces a value that is no outcome of a
job, because another program stored it under the lock of the job, or it is damaged.
The nodes forget a job 30 days after its last use.

Times are in the time zone of this machine, and those of --json in UTC.

jobs exits with 75 if NAME never ran, or not in the last 30 days, and with 69 if
too few nodes answered. If a shard of a Redis Cluster does not answer, jobs shows the
jobs of the other shards, and exits with 69.`

// jobsFlags are the flags of jobs.
type jobsFlags struct {
	asJSON, reset, fresh, all, history bool
}

func (a *app) jobs() *cobra.Command {
	var f jobsFlags
	cmd := &cobra.Command{
		Use:   "jobs [NAME]",
		Short: "Show the last run of each job",
		Long:  jobsHelp,
		Example: "  holdfast jobs\n  holdfast jobs --history nightly-report\n  holdfast jobs run nightly-report --note 'after the fix'\n" +
			"  holdfast jobs pause nightly-report --note 'the archive is full'",
		Args: func(cmd *cobra.Command, args []string) error {
			cmd.SuggestionsMinimumDistance = 2
			switch {
			case len(args) > 1 && len(cmd.SuggestionsFor(args[0])) > 0:
				return unknown(cmd, args)
			case len(args) > 1:
				return usage(fmt.Errorf("jobs needs one name or none, but was given %d", len(args)), "the form is holdfast jobs [NAME]")
			case f.reset && len(args) == 0:
				return usage(errors.New("--reset needs the name of a job"), "the form is holdfast jobs --reset NAME")
			case f.history && len(args) == 0:
				return usage(errors.New("--history needs the name of a job"), "the form is holdfast jobs --history NAME")
			case f.fresh && !f.reset:
				return usage(errors.New("--new has no meaning without --reset"), "the form is holdfast jobs --reset --new NAME")
			}
			return nil
		},
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withNodes(func(client *holdfast.Client) error {
				if f.reset {
					return a.resetJob(context.Background(), client, args[0], f.fresh)
				}
				return a.showJobs(cmd.OutOrStdout(), client, args, f)
			})
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&f.all, "all", false, "also jobs that were removed, or left the file of holdfast cron")
	cmd.Flags().BoolVar(&f.history, "history", false, "also show the last attempts of NAME")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&f.reset, "reset", false, "set the last tick of NAME to the present")
	cmd.Flags().BoolVar(&f.fresh, "new", false, "with --reset: begin a job that never ran, or whose lock has the value of another program")
	cmd.AddCommand(a.jobsRun(), a.jobsPause(), a.jobsResume(), a.jobsRemove())
	return cmd
}

// showJobs prints the jobs, or the first one in names. If some jobs cannot be read, it prints the other ones.
func (a *app) showJobs(out io.Writer, client *holdfast.Client, names []string, f jobsFlags) error {
	ctx := context.Background()
	jobs, err := lookUp(ctx, client, names)
	if err != nil && len(jobs) == 0 {
		return a.jobsFailure(err)
	}
	now, hidden := presentOf(ctx, client), 0
	if len(names) == 0 && !f.all {
		maps.DeleteFunc(jobs, func(_ string, o job.Outcome) bool {
			if isGone(o) && !o.Tick.IsZero() { // else it is only a request for a job that never ran
				hidden++
			}
			return isGone(o)
		})
	}
	text := func() error { return printJobs(out, jobs, now) }
	if len(names) == 1 {
		text = func() error {
			for name, o := range jobs {
				return printJob(out, name, o, now, f.history, a.verbose)
			}
			return nil
		}
	}
	if e := show(out, f.asJSON, jobsJSON(jobs, now, f.history), text); e != nil {
		return errors.Join(e, a.jobsFailure(err))
	}
	switch {
	case err != nil:
		return a.jobsFailure(err)
	case len(names) == 1 && len(jobs) == 0:
		return neverRan(names[0], "holdfast jobs lists the jobs")
	case hidden > 0:
		a.note("%s left out: removed, or in no file any more; --all shows them", printable.Count(hidden, "job"))
	}
	return nil
}

// presentOf returns the time by the nodes' clocks, or that of this machine if too few nodes answer.
func presentOf(ctx context.Context, client *holdfast.Client) time.Time {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now, err := client.Now(bounded)
	if err != nil {
		return time.Now()
	}
	return now
}

func neverRan(name, hint string) error {
	return &failure{code: exitHeld, err: fmt.Errorf("job %q never ran, or not in the last 30 days", name), hint: hint}
}

// resetJob sets the last tick of a job to the present. It refuses a job that never ran, unless fresh is true.
func (a *app) resetJob(ctx context.Context, client *holdfast.Client, name string, fresh bool) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now, err := client.Now(bounded)
	if err != nil {
		return a.jobsFailure(err)
	}
	if last, err := job.Last(bounded, client, name); err == nil && last == nil && !fresh { // SetTick meets the same error
		return neverRan(name, "holdfast jobs lists the jobs; to begin a new job: holdfast jobs --reset --new NAME")
	}
	err = job.SetTick(bounded, client, name, now)
	if fresh && errors.Is(err, job.ErrNoJob) {
		if err = job.Discard(bounded, client, name); err == nil {
			a.note("the value of lock %q was no outcome of a job, and is discarded", name)
			err = job.SetTick(bounded, client, name, now)
		}
	}
	if err != nil {
		return a.jobsFailure(err)
	}
	a.note("the last tick of job %q is now %s", name, toSecond(now))
	return nil
}

// foreignHint is the hint for a value that is no outcome of a job.
const foreignHint = "if no other program needs this value, and no newer version stored it: holdfast jobs --reset --new NAME"

func (a *app) jobsFailure(err error) error {
	var un *holdfast.UnavailableError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &un):
		return &failure{code: exitUnavailable, err: err, hint: a.settings.unavailableHint(un)}
	case errors.Is(err, holdfast.ErrHeld), errors.Is(err, context.DeadlineExceeded):
		return &failure{code: exitHeld, err: err, hint: "the job runs now; try again when it has ended"}
	case errors.Is(err, job.ErrNoJob):
		return &failure{code: exitHeld, err: errors.New(trimmed(err)), hint: foreignHint}
	}
	return usage(inFlags(err), "")
}

// lookUp returns the last outcome of each job, or of the first job in names. If an outcome says that a run has not
// ended, but nobody holds the job's lock, lookUp says that the run has crashed. The run may end while lookUp asks, so a
// read of the outcome alone cannot say that.
func lookUp(ctx context.Context, client *holdfast.Client, names []string) (jobs map[string]job.Outcome, err error) {
	if len(names) == 0 {
		jobs, err = job.List(ctx, client)
	} else {
		jobs = map[string]job.Outcome{}
		var last *job.Outcome
		if last, err = job.Last(ctx, client, names[0]); last != nil {
			jobs[names[0]] = *last
		}
	}
	for name, o := range jobs {
		if o.State != job.Running {
			continue
		}
		if settled, err := jobmetrics.Settle(ctx, client, name); err == nil && settled != nil {
			jobs[name] = *settled
		}
	}
	return jobs, err
}
