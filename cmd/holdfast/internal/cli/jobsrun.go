package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job"
)

// beginTime is the time within which a machine begins a run that was asked for.
const beginTime = 30 * time.Second

// lookGap is the time between two looks at a run.
const lookGap = 250 * time.Millisecond

func (a *app) jobsRun() *cobra.Command {
	var f actionFlags
	var noWait, cancel bool
	cmd := &cobra.Command{
		Use:   "run NAME",
		Short: "Make the fleet run a job now",
		Long: `run asks the machines that have the job NAME, by holdfast cron or by the library, to
run it now. One of them begins it, usually within ten seconds, also if the first tick
of the job has not come yet. A job that only crontabs have, with run --tick, cannot be
run so.

run waits for the end of the run, with its retries, and prints the outcome. Ctrl-C ends
only this wait. With --no-wait it exits when the nodes have the request.

If the job runs now, run first waits for the end of that run, up to --wait.

run exits with 1 if the run failed, crashed or was interrupted, and with 75 if no
machine began it within 30 s, or if the job still runs or is paused. A request that no
machine has followed after ten minutes is dropped. --cancel withdraws it earlier, as
pause does. --cancel ends no run, and exits with 75 if no request waits.`,
		Args:    one("name"),
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cancel && noWait {
				return usage(errors.New("--cancel and --no-wait exclude each other"), "")
			}
			if cancel {
				return a.act(job.Cancel, args[0], f, "the request for a run of job %q is withdrawn", args[0])
			}
			return a.withNodes(func(client *holdfast.Client) error {
				return a.runJob(cmd.OutOrStdout(), client, args[0], f, noWait)
			})
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "do not wait for the run")
	cmd.Flags().BoolVar(&cancel, "cancel", false, "withdraw the request for a run that no machine has begun")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

func (a *app) runJob(out io.Writer, client *holdfast.Client, name string, f actionFlags, noWait bool) error {
	ctx := context.Background()
	if err := a.doNow(client, job.Trigger, name, f); err != nil {
		return err
	}
	asked, err := timeOfRequest(ctx, client, name)
	if err != nil {
		return a.actionFailure(err, name)
	}
	if noWait {
		a.note("a run of job %q was asked for; holdfast jobs %s shows it", name, printable.Quoted(name))
		return nil
	}
	late := time.NewTimer(beginTime)
	defer late.Stop()
	look := time.NewTicker(lookGap)
	defer look.Stop()
	begun := false
	for {
		switch r, found := manualRun(ctx, client, name, asked); {
		case !found:
		case r.State == job.Running && !begun:
			begun = true
			a.note("job %q: it runs on %s", name, shown(r.Host))
		case r.State != job.Running:
			fmt.Fprintf(out, "job %s: %s\n", printable.Quoted(name), shown(job.Outcome{
				Tick: r.Tick, State: r.State, Host: r.Host, Took: r.Took, Attempt: r.Attempt, Manual: true, Error: r.Error,
			}.String()))
			if r.State != job.Done {
				return exit(exitRunFailed)
			}
			return nil
		default:
			begun = true
		}
		select {
		case <-look.C:
		case <-late.C:
			if !begun {
				return a.notBegun(ctx, client, name)
			}
		}
	}
}

// notBegun returns the failure of a request that no machine has followed so far.
func (a *app) notBegun(ctx context.Context, client *holdfast.Client, name string) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f := &failure{code: exitHeld, err: fmt.Errorf("no machine began job %q within %s", name, beginTime)}
	f.hint = "is holdfast cron with this job running, and can it run the job?"
	if last, err := job.Last(bounded, client, name); err == nil && last != nil && last.Tick.IsZero() {
		f.err = fmt.Errorf("no machine began job %q within %s, and it never ran before", name, beginTime)
		f.hint = "is the name right, and is holdfast cron running with a file that has this job? holdfast cron --check FILE lists the jobs of a file."
	}
	f.hint += fmt.Sprintf(" The request stays valid for %s; to withdraw it: holdfast jobs run --cancel %s", job.AskedFor, printable.Quoted(name))
	return f
}

// timeOfRequest returns the time of the last request for a run, by the nodes' clocks.
func timeOfRequest(ctx context.Context, client *holdfast.Client, name string) (time.Time, error) {
	last, err := job.Last(ctx, client, name)
	if err != nil {
		return time.Time{}, err
	}
	if last != nil {
		for _, action := range last.Book.Audit { // the newest first
			if action.What == "run" {
				return action.At, nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("job %q: %w: the nodes have lost the request", name, job.ErrNeverRan)
}

// manualRun returns the last attempt of the run that was asked for. It returns false if the run has not begun, or if the
// nodes do not answer now. An attempt that is repeated counts as running.
func manualRun(ctx context.Context, client *holdfast.Client, name string, asked time.Time) (job.PastRun, bool) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	jobs, err := lookUp(bounded, client, []string{name})
	o, found := jobs[name]
	if err != nil || !found {
		return job.PastRun{}, false
	}
	if o.Manual && !o.Tick.Before(asked) && (o.State == job.Running || !o.Retry.IsZero()) {
		return job.PastRun{State: job.Running, Host: o.Host}, true
	}
	for _, r := range o.History() {
		if r.Manual && !r.Tick.Before(asked.Truncate(time.Microsecond)) {
			return r, true
		}
	}
	return job.PastRun{}, false
}
