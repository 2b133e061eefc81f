package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job"
)

func (a *app) jobs() *cobra.Command {
	var asJSON, reset, fresh bool
	cmd := &cobra.Command{
		Use:   "jobs [NAME]",
		Short: "Show the last run of each job",
		Long: `jobs shows the last tick of each job: when it was, which machine ran it, how long
it took, its result, and the next tick. With NAME it shows this job only.

The states are running, done, failed (it returned an error), crashed (its machine
died, it lost the lock, or it could not store its result), interrupted (it was
asked to end), and reset. A next tick is overdue if it is over by a minute and no
machine has run it, for example because the job is in no crontab any more.

--reset sets the last tick of NAME to the present, as if that tick had been run.
It is needed if the last tick is in the future, because the clocks of a majority
of the nodes were ahead. --reset refuses a job that never ran, because its name may
be wrong. With --new it begins such a job: this is needed on a new node set while a
node of the set is down. The nodes forget a job 30 days after its last use.

Times are in the time zone of this machine, and those of --json in UTC.

jobs exits with 75 if NAME never ran, or not in the last 30 days, and with 69 if
too few nodes answered.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usage(fmt.Errorf("jobs needs one name or none, but was given %d", len(args)), "the form is holdfast jobs [NAME]")
			case reset && len(args) == 0:
				return usage(errors.New("--reset needs the name of a job"), "the form is holdfast jobs --reset NAME")
			case fresh && !reset:
				return usage(errors.New("--new has no meaning without --reset"), "the form is holdfast jobs --reset --new NAME")
			}
			return nil
		},
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withNodes(func(client *holdfast.Client) error {
				ctx := context.Background()
				if reset {
					return a.resetJob(ctx, client, args[0], fresh)
				}
				jobs, err := lookUp(ctx, client, args)
				if err != nil && len(jobs) == 0 {
					return a.jobsFailure(err)
				}
				if err != nil { // some jobs could be read
					return errors.Join(show(cmd.OutOrStdout(), asJSON, jobsJSON(jobs), func() error { return printJobs(cmd.OutOrStdout(), jobs) }), a.jobsFailure(err))
				}
				if len(args) == 1 && len(jobs) == 0 {
					if err := show(cmd.OutOrStdout(), asJSON, jobsJSON(jobs), func() error { return nil }); err != nil {
						return err
					}
					return neverRan(args[0], "holdfast jobs lists the jobs")
				}
				return show(cmd.OutOrStdout(), asJSON, jobsJSON(jobs), func() error { return printJobs(cmd.OutOrStdout(), jobs) })
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&reset, "reset", false, "set the last tick of NAME to the present")
	cmd.Flags().BoolVar(&fresh, "new", false, "with --reset: begin a job that never ran")
	return cmd
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
	if err := job.SetTick(bounded, client, name, now); err != nil {
		return a.jobsFailure(err)
	}
	a.note("the last tick of job %q is now %s", name, toSecond(now))
	return nil
}

func (a *app) jobsFailure(err error) error {
	var un *holdfast.UnavailableError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &un):
		return &failure{code: exitUnavailable, err: err, hint: a.settings.unavailableHint(un)}
	case errors.Is(err, holdfast.ErrHeld), errors.Is(err, context.DeadlineExceeded):
		return &failure{code: exitHeld, err: err, hint: "the job runs now; try again when it has ended"}
	}
	return usage(inFlags(err), "")
}

// lookUp returns the last outcome of each job, or of the first job in names. If an outcome says that a run has not
// ended, but nobody holds the job's lock, lookUp says that the run has crashed.
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
		if s, err := client.Status(ctx, name); err == nil && !s.Held {
			o.State = job.Crashed
			jobs[name] = o
		}
	}
	return jobs, err
}

// overdue is the time after which printJobs marks a tick that nobody ran. It is longer than the usual delay of a run.
const overdue = time.Minute

func printJobs(out io.Writer, jobs map[string]job.Outcome) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "JOB\tLAST TICK\tSTATE\tHOST\tTOOK\tNEXT\tERROR")
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		o := jobs[name]
		took, next := "", ""
		if o.State != job.Running && o.Took > 0 {
			took = forPeople(o.Took)
		}
		if !o.Next.IsZero() {
			next = toSecond(o.Next)
			if o.State != job.Running && time.Since(o.Next) > overdue {
				next += " overdue"
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", printable.Quoted(name), toSecond(o.Tick), shown(string(o.State)),
			shown(o.Host), took, next, shown(o.Error))
	}
	return printed(w.Flush())
}

type jobJSON struct {
	Name       string  `json:"name"`        // each byte that is not UTF-8 is U+FFFD here
	NameQuoted string  `json:"name_quoted"` // as a Go string in ASCII, which is different for any two names
	Tick       *string `json:"tick"`
	State      string  `json:"state"`
	Host       *string `json:"host"`
	Fence      *int64  `json:"fence"`
	Attempt    int     `json:"attempt"`
	Missed     int     `json:"missed"`
	Started    *string `json:"started"`
	TookMS     *int64  `json:"took_ms"` // null while the job runs
	Error      *string `json:"error"`
	Next       *string `json:"next"`
	Schedule   *string `json:"schedule"`
	Spec       *string `json:"spec"` // a hash of the schedule, its policies and the time zone data
}

func jobsJSON(jobs map[string]job.Outcome) []jobJSON {
	list := []jobJSON{}
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		o := jobs[name]
		j := jobJSON{
			Name: name, NameQuoted: strconv.QuoteToASCII(name), Tick: instant(o.Tick), State: string(o.State), Host: text(o.Host),
			Fence: number(o.Fence), Attempt: o.Attempt, Missed: o.Missed, Started: instant(o.Started), Error: text(o.Error),
			Next: instant(o.Next), Schedule: text(o.Schedule), Spec: text(o.Spec),
		}
		if o.State == job.Done || o.State == job.Failed || o.State == job.Interrupted {
			ms := o.Took.Milliseconds()
			j.TookMS = &ms
		}
		list = append(list, j)
	}
	return list
}
