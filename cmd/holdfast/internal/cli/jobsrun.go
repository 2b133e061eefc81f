package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/doctor"
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
machine began it within 30 s, or if the job still runs or is paused. After a crash it
waits up to 30 s for a machine that repeats the run (on-crash=retry) or counts it. It
also exits with 1 if no machine begins a retry, or repeats an interrupted run, within
30 s of its time. A request that no machine has followed after ten minutes is dropped. --cancel withdraws it earlier, as
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
		a.note("a run of job %q was asked for; holdfast jobs %s shows it", name, doctor.Word(name))
		return nil
	}
	return a.follow(ctx, out, client, name, asked)
}

// follow waits for the end of a run that was asked for, and prints its outcome.
func (a *app) follow(ctx context.Context, out io.Writer, client *holdfast.Client, name string, asked time.Time) error {
	late, lost := time.NewTimer(beginTime), time.NewTimer(beginTime) // the second one runs while the run has no machine
	defer late.Stop()
	defer lost.Stop()
	look := time.NewTicker(lookGap)
	defer look.Stop()
	begun := false
	for {
		r := lookAtRun(ctx, client, name, asked)
		if r.stage != runCrashed {
			lost.Reset(beginTime)
		}
		switch r.stage {
		case runBegun:
			if !begun {
				a.note("job %q: it runs on %s", name, shown(r.Host))
			}
			begun = true
		case runCrashed:
			if begun {
				a.note("job %q: the run on %s has crashed; waiting for a machine that repeats or counts it", name, shown(r.Host))
			}
		case runLeft:
			a.note("job %q: no machine began its next attempt within %s; one that comes later may begin it", name, beginTime)
			return printRun(out, name, r.PastRun)
		case runEnded:
			return printRun(out, name, r.PastRun)
		case runWithdrawn:
			return a.withdrawn(name, r.by)
		case runForgotten:
			return &failure{
				code: exitHeld, err: fmt.Errorf("job %q has run, but its history has the result no longer: other runs came after it", name),
				hint: "holdfast jobs --history " + doctor.Word(name),
			}
		}
		select {
		case <-look.C:
		case <-lost.C:
			if r.stage == runCrashed { // no machine is there, and the next one decides
				return printRun(out, name, r.PastRun)
			}
		case <-late.C:
			switch {
			case r.stage == runWaits:
				return a.notBegun(ctx, client, name)
			case r.stage == runUnknown && !begun:
				return a.actionFailure(r.err, name)
			}
		}
	}
}

// printRun prints how a run that was asked for ended, and returns the failure of one that was not done.
func printRun(out io.Writer, name string, r job.PastRun) error {
	fmt.Fprintf(out, "job %s: %s\n", printable.Quoted(name), shown(job.Outcome{
		Tick: r.Tick, State: r.State, Host: r.Host, Took: r.Took, Attempt: r.Attempt, Manual: true, Error: r.Error,
	}.String()))
	if r.State != job.Done {
		return exit(exitRunFailed)
	}
	return nil
}

// withdrawn returns the failure of a request that an operator withdrew by another action.
func (a *app) withdrawn(name string, by job.Action) error {
	f := &failure{code: exitHeld, err: fmt.Errorf("no machine began job %q: the request was withdrawn: %s, %s", name, shown(by.What), actionOf(by))}
	if by.What == "pause" {
		f.hint = "holdfast jobs resume " + doctor.Word(name)
	}
	return f
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
	f.hint += fmt.Sprintf(" The request stays valid for %s; to withdraw it: holdfast jobs run --cancel %s", job.AskedFor, doctor.Word(name))
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
