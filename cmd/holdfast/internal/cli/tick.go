package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // so that machines without time zone data find the same ticks

	"github.com/charmbracelet/x/term"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/verdict"
)

// tickFlag is a flag that contains a schedule. A duration such as 1h means "every 1h".
type tickFlag struct {
	text     string
	schedule *job.Schedule // nil: the flag was not given
}

func (t *tickFlag) String() string { return t.text }

func (*tickFlag) Type() string { return "schedule" }

func (t *tickFlag) Set(text string) error {
	if strings.TrimSpace(text) == "" { // probably a variable in a script was not set
		return errors.New("want a duration such as 1h, or a schedule such as \"30 2 * * *\"")
	}
	every := text
	if !strings.ContainsAny(text, " @") {
		every = "every " + text
	}
	schedule, err := job.ParseSchedule(every)
	if err != nil {
		if every != text {
			return fmt.Errorf("%w. It may also be a schedule such as \"30 2 * * *\"", errors.Unwrap(err))
		}
		return errors.Unwrap(err)
	}
	t.text, t.schedule = text, schedule
	return nil
}

// crashFlag is a flag that says what happens to a tick after its run has crashed.
type crashFlag job.OnCrash

func (c *crashFlag) String() string { return string(*c) }

func (*crashFlag) Type() string { return "skip|retry" }

func (c *crashFlag) Set(text string) error {
	if text != string(job.CrashSkip) && text != string(job.CrashRetry) {
		return errors.New("want skip or retry")
	}
	*c = crashFlag(text)
	return nil
}

// checkTick returns an error if another flag cannot be used together with --tick, or if an outer run has the lock name.
func (f *runFlags) checkTick(name string) error {
	const (
		oneRun = "a tick has one run, under the lock NAME. For other locks, give --tick here, and the flag to a holdfast run inside"
		waits  = "with --tick, run waits while the run of an earlier tick goes on, and skips a tick that was taken"
	)
	for _, other := range []struct {
		flag  string
		given bool
		hint  string
	}{
		{"--also", len(f.also) > 0, oneRun}, {"--shared", f.shared, oneRun}, {"--slots", f.slots > 0, oneRun},
		{"--at-least", f.atLeast.given && f.atLeast.value > 0, waits}, {"--wait", f.wait.given, waits}, {"--through-outages", f.through, waits},
		{"--skip-ok", f.skipOK, waits},
	} {
		if other.given {
			return usage(errors.New(other.flag+" and --tick do not go together"), other.hint)
		}
	}
	if i := slices.IndexFunc(os.Environ(), func(kv string) bool {
		variable, value, _ := strings.Cut(kv, "=")
		return named.MatchString(variable) && strings.HasPrefix(variable, "HOLDFAST_NAME") && value == name
	}); i >= 0 {
		return &failure{code: exitHeld, err: fmt.Errorf("lock %q: %w", name, errSelf), hint: "give the job another name than the run around it"}
	}
	return nil
}

// runTick runs command, unless another machine has taken the present tick. It returns the command if it started.
func (a *app) runTick(name string, command []string, f runFlags) (*childprocess.Child, error) {
	f.record.noteTick()
	start, err := a.launch(command[0], f.ttl.value, nil)
	if err != nil {
		return nil, err
	}
	defer start.client.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop := start.sig.interrupt(cancel)
	a.hold()
	f.record.noteQuestion()
	defer f.record.noteAnswer()
	tick, err := job.TickAt(ctx, start.client, f.tick.schedule)
	if err != nil {
		if s := stop(); s != nil {
			return nil, s
		}
		return nil, a.tickFailure(err)
	}
	r := &tickRun{app: a, command: command, path: start.path, f: f, sig: start.sig, stop: stop, interrupt: func() { cancel(errInterrupted) }}
	spec := job.Spec{Name: name, Schedule: f.tick.schedule.String(), OnCrash: job.OnCrash(f.onCrash), Logger: a.logger(), OnOutcome: r.noteOutcome}
	defer func() { f.record.noteJob(start.client, r.last) }()
	ran, err := spec.Once(ctx, start.client, tick, r.run)
	if !r.began {
		if s := stop(); s != nil {
			return nil, s
		}
	}
	switch {
	case r.failed != nil:
		return r.child, r.failed
	case ran:
		return r.child, nil
	case err != nil:
		return nil, a.tickFailure(err)
	}
	a.resume()
	if a.verbose || term.IsTerminal(os.Stderr.Fd()) { // from cron, most runs come too late, and that is no news
		jobs, err := lookUp(context.Background(), start.client, []string{name})
		switch last, found := jobs[name]; {
		case err != nil || !found:
		case last.Book.Paused != nil:
			a.note("job %q: not run: it is paused since %s", name, actionOf(*last.Book.Paused))
		default:
			a.note("job %q: not run: %s", name, last)
		}
	}
	return nil, nil
}

// tickFailure converts an error from before the command began into a failure.
func (a *app) tickFailure(err error) error {
	var un *holdfast.UnavailableError
	switch {
	case errors.As(err, &un):
		hint := a.settings.unavailableHint(un)
		if slices.ContainsFunc(un.Nodes, func(n verdict.Answer) bool { return n.Reason == verdict.ReasonYoungMemory }) {
			hint = "the last tick of this job is not known, perhaps because it never ran: start the nodes that do not answer. " +
				"If it never ran on any node: holdfast jobs --reset --new NAME"
		}
		return &failure{code: exitUnavailable, err: err, hint: hint}
	case errors.Is(err, holdfast.ErrUnavailable):
		return &failure{code: exitUnavailable, err: err}
	case errors.Is(err, job.ErrFuture), errors.Is(err, job.ErrNoJob):
		return &failure{code: exitHeld, err: errors.New(trimmed(err))}
	case errors.Is(err, holdfast.ErrLost):
		return &failure{code: exitLost, err: fmt.Errorf("%w; nothing was run", err)}
	}
	return usage(inFlags(err), "")
}

// tickRun is the run of a command for one tick.
type tickRun struct {
	*app
	command []string
	path    string
	f       runFlags
	sig     *signals
	stop    func() error // ends the time in which a signal ends the wait for the lock

	interrupt func() // called when a signal asked the run to end, so that the job does not count as failed

	began  bool
	child  *childprocess.Child
	failed error        // the result of holdfast run
	last   *job.Outcome // nil: nothing was run
}

// run is the function of the job. Its error becomes the outcome of the tick.
func (r *tickRun) run(ctx context.Context, tick job.Tick) error {
	r.began = true
	if s := r.stop(); s != nil {
		r.failed = s
		return s
	}
	r.resume()
	lease, _ := holdfast.FromContext(ctx)
	// The watchdog is started only here, because most runs with --tick run no command.
	dog, err := childprocess.StartWatchdog(r.f.grace.value, r.settings.windowOrDefault(), r.tell)
	if err != nil {
		r.failed = err
		return err
	}
	defer dog.Dismiss()
	h := newHolding(lease, []string{lease.Name()}, nil)
	r.f.record.noteAnswer()
	r.f.record.noteStart(h.all[0].fence)
	signals, over := r.watch()
	defer over()
	c, err := childprocess.Start(childprocess.Command{
		Path: r.path, Args: r.command, Env: append(r.settings.environment(h, r.f.passNodes), tickVariable(tick)),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Signals: signals, Until: until(h), Watchdog: dog, Report: r.tell,
	})
	switch {
	case errors.Is(err, childprocess.ErrLate):
		r.failed = r.late(h)
		return err
	case err != nil:
		r.failed = notStarted(err, "")
		return err
	}
	lost := r.supervise(c, h, r.f.grace.value, r.f.maxHold.value)
	c.Finish()
	r.f.record.noteEnd()
	code := c.Exit().Code()
	job.SetResult(ctx, job.Result{Exit: &code}) // without output: the command writes to the files of this process
	r.child, r.failed = c, exit(code)
	if lost {
		r.failed = exit(exitLost)
	}
	return ended(c)
}

// noteOutcome receives the outcome. A run whose lock was lost counts as crashed, also if only the store of its outcome
// found the loss.
func (r *tickRun) noteOutcome(o job.Outcome) {
	r.last = &o
	if o.State == job.Crashed && r.child != nil {
		r.failed = exit(exitLost)
	}
}

var errInterrupted = errors.New("asked to end")

// watch returns the channel of signals for the command. A signal that ends processes also interrupts the job.
func (r *tickRun) watch() (signals <-chan os.Signal, over func()) {
	in, quit := r.sig.forward(), make(chan struct{})
	out := make(chan os.Signal, 1+cap(in))
	go func() {
		for {
			select {
			case s := <-in:
				if s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGHUP {
					r.interrupt()
				}
				select {
				case out <- s:
				case <-quit:
				}
			case <-quit:
				return
			}
		}
	}()
	return out, func() { close(quit) }
}

// tickVariable returns the environment variable that contains the tick of a command.
func tickVariable(tick job.Tick) string {
	return "HOLDFAST_TICK=" + tick.Time.UTC().Format(time.RFC3339)
}

// ended returns nil if the command exited with 0, otherwise an error that says how it ended.
func ended(c *childprocess.Child) error {
	switch e := c.Exit(); {
	case e.Signal != 0:
		return fmt.Errorf("ended by signal: %s", e.Signal)
	case e.Status != 0:
		return fmt.Errorf("exit status %d", e.Status)
	}
	return nil
}
