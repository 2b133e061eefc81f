package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/doctor"
	"github.com/holdfast-go/holdfast/job"
)

// This file has the commands that act on a job. They need the rights of a locker, because they take the lock of the job.

// action is a function of package job that acts on a job.
type action = func(ctx context.Context, client *holdfast.Client, name, note string) error

// actionFlags are the flags of a command that acts on a job.
type actionFlags struct {
	note string
	wait duration
}

// register adds the flags to a command.
func (f *actionFlags) register(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&f.note, "note", "", fmt.Sprintf("the reason, which the nodes keep: one line of at most %d bytes", job.MostNote))
	f.wait = duration{zero: true, value: patience, given: true}
	cmd.Flags().Var(&f.wait, "wait", "time to wait for the end of a run, because a job that runs keeps its lock")
}

func (a *app) jobsPause() *cobra.Command {
	return a.jobsDo("pause", "Pause a job on the whole fleet", `pause makes the fleet take no tick of the job NAME until holdfast jobs resume. It ends
no run: if one is under way, pause says where and since when, and waits for its end,
up to --wait. The pause then comes before the next tick. holdfast jobs shows the pause,
and a paused job is not overdue.

Every program that takes the ticks of the job obeys: holdfast cron, run --tick and
the library.

pause exits with 75 if the job still runs after --wait, or never ran.`, job.Pause, "job %q is paused; to resume it: holdfast jobs resume %s")
}

func (a *app) jobsResume() *cobra.Command {
	return a.jobsDo("resume", "End the pause of a job", `resume ends the pause of the job NAME. The ticks that came during the pause are not
run, and do not count as missed. It changes nothing if the job is not paused.

resume exits with 75 if the job never ran.`, resume, "job %q takes ticks again")
}

func (a *app) jobsRemove() *cobra.Command {
	return a.jobsDo("remove", "Remove a job that no machine runs any more", `remove says that there is no job NAME any more. holdfast jobs shows it only with --all,
and the nodes forget it 30 days later. If a machine still has the job in its file, the
job begins again at its next tick: to stop it, use pause. remove also ends a pause.

remove exits with 75 if the job still runs after --wait, or never ran.`, job.Remove, "job %q is removed; it begins again if a machine still has it")
}

// errNotPaused means that a job that resume was given is not paused.
var errNotPaused = errors.New("the job is not paused")

// resume is [job.Resume], except for a job that is not paused.
func resume(ctx context.Context, client *holdfast.Client, name, note string) error {
	if last, err := job.Last(ctx, client, name); err == nil && last != nil && last.Book.Paused == nil { // Resume meets the same error
		return errNotPaused
	}
	return job.Resume(ctx, client, name, note)
}

// jobsDo returns a command that acts on a job. done is the message after it.
func (a *app) jobsDo(verb, short, long string, do action, done string) *cobra.Command {
	var f actionFlags
	cmd := &cobra.Command{
		Use:     verb + " NAME",
		Short:   short,
		Long:    long,
		Args:    one("name"),
		PreRunE: a.configure,
		RunE: func(_ *cobra.Command, args []string) error {
			said := []any{args[0]}
			if verb == "pause" {
				said = append(said, doctor.Word(args[0]))
			}
			return a.act(do, args[0], f, done, said...)
		},
	}
	f.register(cmd)
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// act acts on a job. done and said are the message after it.
func (a *app) act(do action, name string, f actionFlags, done string, said ...any) error {
	return a.withNodes(func(client *holdfast.Client) error {
		switch err := a.doNow(client, do, name, f); {
		case errors.Is(err, errNotPaused):
			a.note("nothing was changed: job %q is not paused", name)
			return nil
		case err != nil:
			return err
		}
		a.note(done, said...)
		return nil
	})
}

// answerTime is the time for the answers of the nodes to an action, beside the wait for a run. --wait 0 needs it, too.
const answerTime = 2 * time.Second

// doNow acts on a job, and waits for the end of a run up to --wait. It says which run that is.
func (a *app) doNow(client *holdfast.Client, do action, name string, f actionFlags) error {
	o := underWay(client, name)
	switch {
	case o != nil && f.wait.value == 0:
		return stillRuns(name, o)
	case o != nil:
		a.note("job %q runs on %s since %s; waiting for its end, up to %s", name, shown(o.Host), toSecond(o.Started), f.wait.value)
	}
	ctx, cancel := context.WithTimeout(context.Background(), f.wait.value+answerTime)
	defer cancel()
	err := do(ctx, client, name, f.note)
	var un *holdfast.UnavailableError
	if errors.Is(err, holdfast.ErrHeld) && !errors.As(err, &un) {
		if o := underWay(client, name); o != nil {
			return stillRuns(name, o)
		}
	}
	if err != nil && !errors.Is(err, errNotPaused) {
		return a.actionFailure(err, name)
	}
	return err
}

// stillRuns returns the failure of an action on a job that runs.
func stillRuns(name string, o *job.Outcome) error {
	return &failure{
		code: exitHeld,
		err:  fmt.Errorf("nothing was changed: job %q runs on %s since %s", name, shown(o.Host), toSecond(o.Started)),
		hint: "a run keeps the lock of its job; with a longer --wait, such as --wait 2h, this command waits for the end of the run, and comes before the next one. To end a run that hangs: holdfast unlock " + doctor.Word(name) + " --force",
	}
}

// underWay returns the run of a job that is under way, nil if there is none or the nodes do not answer.
func underWay(client *holdfast.Client, name string) *job.Outcome {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	jobs, err := lookUp(ctx, client, []string{name})
	if o, found := jobs[name]; err == nil && found && o.State == job.Running {
		return &o
	}
	return nil
}

// actionFailure converts the error of an action into a failure.
func (a *app) actionFailure(err error, name string) error {
	var un *holdfast.UnavailableError
	failed := func(code int, hint string) error {
		return &failure{code: code, err: errors.New(trimmed(err)), hint: hint}
	}
	switch {
	case errors.As(err, &un):
		return &failure{code: exitUnavailable, err: err, hint: a.settings.unavailableHint(un)}
	case errors.Is(err, job.ErrNeverRan):
		return failed(exitHeld, "holdfast jobs lists the jobs")
	case errors.Is(err, job.ErrPaused):
		return failed(exitHeld, "holdfast jobs resume "+doctor.Word(name))
	case errors.Is(err, job.ErrAsked):
		return failed(exitHeld, "holdfast jobs run --cancel "+doctor.Word(name)+" withdraws that request")
	case errors.Is(err, job.ErrNotAsked):
		return failed(exitHeld, "holdfast jobs "+doctor.Word(name)+" shows its last run and its requests")
	case errors.Is(err, job.ErrFuture):
		return failed(exitHeld, "")
	case errors.Is(err, job.ErrNoJob):
		return failed(exitHeld, foreignHint)
	case errors.Is(err, job.ErrBadNote):
		return usage(errors.New(trimmed(err)), "")
	case errors.Is(err, holdfast.ErrHeld), errors.Is(err, context.DeadlineExceeded):
		return failed(exitHeld, "somebody has the lock of the job; try again later, or give a longer --wait")
	case errors.Is(err, holdfast.ErrUnavailable):
		return &failure{code: exitUnavailable, err: err}
	}
	return usage(inFlags(err), "")
}
