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

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
	"github.com/holdfast-go/holdfast/job"
)

// runFlags contains the flags that only run has.
type runFlags struct {
	also                       nameList
	ttl, wait, atLeast, grace  duration
	maxHold                    duration // 0: no limit
	skipOK, passNodes, through bool
	noReentry                  bool
	slots                      slotCount // 0: the name is a lock
	shared                     bool
	tick                       tickFlag
	onCrash                    crashFlag
	metrics                    textFile
	record                     *runRecord // nil without --metrics-textfile
}

func (a *app) run() *cobra.Command {
	f := runFlags{onCrash: crashFlag(job.CrashSkip), wait: duration{zero: true}, atLeast: duration{zero: true}, grace: duration{zero: true, value: 10 * time.Second, given: true}}
	cmd := &cobra.Command{
		Use: "run [flags] NAME -- COMMAND [ARG…]",

		DisableFlagsInUseLine: true,
		Short:                 "Run a command while holding a lock",
		Long:                  runHelp,
		Example:               "  holdfast run nightly-report -- ./report.sh --full\n  holdfast run --tick 1h hourly-report -- ./report.sh\n  holdfast run --also stock orders -- ./reconcile.sh\n  holdfast run --wait 0 --skip-ok --at-least 30s cleanup -- ./cleanup.sh",
		Args:                  func(*cobra.Command, []string) error { return nil }, // see nameAndCommand
		PreRunE:               a.configure,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, command, err := nameAndCommand(args, cmd.ArgsLenAtDash())
			if err != nil {
				return err
			}
			f.record = newRunRecord(f.metrics, name)
			if f.slots > 0 && len(f.also) > 0 {
				return usage(errors.New("--also and --slots do not go together"), "take the locks with another holdfast run inside")
			}
			if f.tick.schedule != nil {
				if err := f.checkTick(name); err != nil {
					return err
				}
				c, err := a.runTick(name, command, f)
				a.writeMetrics(f.record, err)
				a.interrupted(c, err)
				return err
			}
			if cmd.Flags().Changed("on-crash") {
				return usage(errors.New("--on-crash has no meaning without --tick"), "")
			}
			if f.skipOK && !f.wait.given {
				return usage(errors.New("--skip-ok has no meaning without --wait: run waits until it gets the lock"),
					"to skip at once if somebody has the lock, give --wait 0 --skip-ok")
			}
			if f.maxHold.value > 0 && f.atLeast.value > f.maxHold.value {
				return usage(fmt.Errorf("--at-least %s is longer than --max-hold %s, which ends the lock", f.atLeast.value, f.maxHold.value),
					"give a --max-hold of at least --at-least")
			}
			if f.shared && f.slots > 0 {
				return usage(errors.New("--shared does not go together with --slots"), "")
			}
			if f.shared && len(f.also) > 0 {
				return usage(errors.New("--shared does not go together with --also"), "take the locks with another holdfast run inside")
			}
			c, err := a.runUnder(append([]string{name}, f.also...), command, f)
			a.writeMetrics(f.record, err)
			a.interrupted(c, err)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&f.also, "also", "take this lock too; may be given several times. All locks are taken together")
	_ = cmd.RegisterFlagCompletionFunc("also", cobra.NoFileCompletions)
	flags.Var(&f.ttl, "ttl", "time after which the lock of a dead holder ends (default 10s, or --max-ttl if less)")
	flags.Var(&f.wait, "wait", "how long to wait for the lock; 0 tries once (default: for ever; an outage of the nodes can end it sooner)")
	flags.Var(&f.slots, "slots", "take one of this many slots of a semaphore, instead of a lock")
	flags.BoolVar(&f.shared, "shared", false, "take the lock as a reader: other readers may have it too, and a run without --shared may not")
	flags.BoolVar(&f.through, "through-outages", false, "keep waiting while no quorum of the nodes answers, even if only an operator can help; --wait still limits the wait")
	flags.Var(&f.atLeast, "at-least", "keep the lock taken for this time after its acquisition, even if the command ends sooner. The nodes' clocks count; by other clocks it may be 1.5 × --window less. The nodes keep it for at most --max-ttl, so for a longer time run stays until that much is left. After a signal they keep it for at most --max-ttl more")
	flags.Var(&f.maxHold, "max-hold", "end COMMAND and give the lock back after this time, with exit code 76, even if COMMAND still runs (default: no limit)")
	flags.Var(&f.grace, "grace", "time between TERM and KILL when COMMAND must end: the lock is lost, COMMAND leaves processes behind, or run is killed. After a TERM that run passes on, run waits for COMMAND without a limit")
	flags.BoolVar(&f.passNodes, "pass-nodes", false, "pass HOLDFAST_NODES on to COMMAND even if it contains passwords, for a holdfast run inside")
	flags.BoolVar(&f.noReentry, "no-reentry", false, "exit with 75 if an outer holdfast run has the lock, instead of running COMMAND under it")
	flags.Var(&f.tick, "tick", "run COMMAND only if nobody has run it for the present tick of this schedule, such as 1h or \"30 2 * * *\"; else exit with 0")
	flags.Var(&f.onCrash, "on-crash", "with --tick: if the run dies, no run takes the tick again (skip), or a later run does (retry)")
	flags.Var(&f.metrics, "metrics-textfile", "write the metrics of this run to PATH, which ends in .prom, for the textfile collector of node_exporter")
	flags.BoolVar(&f.skipOK, "skip-ok", false, "with --wait: exit with 0 instead of 75 if somebody else has the lock")
	return cmd
}

var errNoDashes = errors.New("there is no -- between the name and the command")

// nameAndCommand splits NAME -- COMMAND. dash is the number of arguments before the --, or -1.
func nameAndCommand(args []string, dash int) (name string, command []string, err error) {
	form := "the form is " + runForm
	switch {
	case dash == 0 && len(args) > 2 && args[1] == "--":
		return args[0], args[2:], nil // -- NAME -- COMMAND is the form for a name that begins with -
	case len(args) == 0 || dash == 0:
		return "", nil, usage(errors.New("there is no name"), form)
	case dash < 0 && len(args) > 1:
		return "", nil, usage(errNoDashes, "write holdfast run "+args[0]+" -- "+strings.Join(args[1:], " "))
	case dash > 1:
		return "", nil, usage(fmt.Errorf("%d names before the --, but one is needed", dash),
			"quote a name with spaces: holdfast run "+quoted(strings.Join(args[:dash], " "))+" -- …\n"+
				"or take several locks: holdfast run --also "+strings.Join(args[1:dash], " --also ")+" "+args[0]+" -- …")
	case dash < 0 || len(args) == 1:
		return "", nil, usage(errors.New("there is no command"), form)
	}
	return args[0], args[1:], nil
}

// runUnder runs command under the locks. The first name is NAME. It returns the command if it started.
func (a *app) runUnder(names []string, command []string, f runFlags) (*childprocess.Child, error) {
	start, err := a.launch(command[0], f.ttl.value, nil)
	if err != nil {
		return nil, err
	}
	defer start.client.Close()
	// The watchdog is started before the wait for the lock, so the start costs no time later.
	dog, err := childprocess.StartWatchdog(f.grace.value, a.settings.windowOrDefault(), a.tell)
	if err != nil {
		return nil, err // without a watchdog, a command must not start
	}
	a.detail("the watchdog is process %d", dog.PID())
	defer dog.Dismiss()

	f.record.noteQuestion()
	h, err := a.acquireAll(start.client, names, f, start.sig)
	f.record.noteAnswer()
	if err != nil {
		return nil, err
	}
	if h.held == nil { // outer runs hold all locks
		start.client.Close()
		dog.Dismiss()
		if f.record != nil {
			a.say("the metrics are not written, because COMMAND takes the place of this process under the lock of an outer run; give --metrics-textfile to that run")
		}
		return nil, a.reenter(h.all, start.path, command, f.passNodes, start.sig)
	}
	acquired := time.Now()
	a.detail("acquired %s with token %s", quotedAll(h.names), h.all[0].fence)
	f.record.noteStart(h.all[0].fence)
	c, err := childprocess.Start(childprocess.Command{
		Path: start.path, Args: command, Env: a.settings.environment(h, f.passNodes),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Signals: start.sig.forward(), Until: until(h), Watchdog: dog, Report: a.tell,
	})
	switch {
	case errors.Is(err, childprocess.ErrLate):
		return nil, a.late(h)
	case err != nil:
		a.unlock(h)
		return nil, notStarted(err, "")
	}
	lost := a.supervise(c, h, f.grace.value, f.maxHold.value)
	c.Finish()
	f.record.noteEnd()
	if lost {
		return c, exit(exitLost)
	}
	return c, a.giveBack(h, acquired.Add(f.atLeast.value), a.maxTTL(), start.sig.received(), c)
}

// acquireAll takes the locks that no outer run holds. If outer runs hold all locks, the field held of the result is
// nil.
func (a *app) acquireAll(client *holdfast.Client, names []string, f runFlags, sig *signals) (*holding, error) {
	outer := map[string]lockOf{}
	for want := unique(names); len(want) > 0; {
		h, err := a.acquire(client, want, f, sig)
		if err == nil {
			return newHolding(h, names, outer), nil
		}
		var self selfHeld
		if !errors.As(err, &self) || f.noReentry || f.slots > 0 {
			return nil, err
		}
		l, ok := self.passedOn()
		if !ok {
			return nil, err
		}
		outer[l.name] = l
		want = slices.DeleteFunc(want, func(name string) bool { return name == l.name })
	}
	return newHolding(nil, names, outer), nil
}

// until returns a function that returns the earliest deadline of the locks. If a lease has ended, that function
// returns an instant long ago.
func until(h held) func() time.Time {
	return func() time.Time {
		if h.Context().Err() != nil {
			return time.Time{}
		}
		return h.Deadline()
	}
}

// late releases locks after their command could not begin before the deadline, because this process or the host was
// paused. It reports the locks as lost, because another client may have had them since then.
func (a *app) late(h *holding) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = h.Unlock(ctx) // an error would only say that a lease was lost
	return &failure{
		code: exitLost, err: fmt.Errorf("lock %s: %w; nothing was run", quotedAll(h.names), childprocess.ErrLate),
		hint: "holdfast stood still for longer than the lock lasts: a larger --ttl survives longer pauses of this machine",
	}
}

// interrupted ends holdfast with INT if INT ended the command, the wait, or the stay on a terminal. A shell script
// that runs holdfast then ends, too. With the exit code 130, the script would continue. All other work must be done
// before.
func (a *app) interrupted(c *childprocess.Child, err error) {
	f := asFailure(err)
	if c != nil && c.Exit().Code() == f.code {
		if c.Exit().Signal == 0 {
			return // the command itself exited with this code
		}
		c.Relay()
	}
	if f.code == exitSignal+int(syscall.SIGINT) && childprocess.OnTerminal() {
		a.fail(f)
		a.finish(f.code, a.signals.came)
		childprocess.Interrupt()
	}
}

// supervise waits until the command has ended, and ends the rest of its process group. lost is true if the lock was
// lost before the last process of the group ended, or if maxHold ended the command. A maxHold of 0 is no limit.
func (a *app) supervise(c *childprocess.Child, h *holding, grace, maxHold time.Duration) (lost bool) {
	over := h.Context()
	var limit <-chan time.Time
	if maxHold > 0 {
		t := time.NewTimer(maxHold)
		defer t.Stop()
		limit = t.C
	}
	select {
	case <-limit:
		// The library's own limit would give the lock back while the command still ends.
		a.tell("lock %s was held for %s, which is as long as --max-hold allows: ending the command", quotedAll(h.names), maxHold)
		c.End(grace)
		return true
	case <-over.Done():
		a.tell("%s lost: ending the command", h.lost())
		c.End(grace)
		return true
	case <-c.Exited():
	}
	if expired(over, h.Deadline()) {
		a.tell("%s lost before the command ended", h.lost())
		c.End(grace)
		return true
	}
	if !c.Left() {
		return false
	}
	a.tell("the command has exited but left processes behind; ending them before the lock is given back")
	c.End(grace)
	if over.Err() != nil {
		a.say("%s lost meanwhile", h.lost())
		return true
	}
	return false
}

// expired reports whether the locks had been lost when the command ended. If this process was frozen, the watchdog has
// killed the command after the deadline. This process may learn of the end of its command before its lease ends, so
// expired waits for that.
func expired(over context.Context, deadline time.Time) bool {
	if over.Err() == nil && !time.Now().Before(deadline) {
		select {
		case <-over.Done():
		case <-time.After(time.Second): // for a lease without a timer; a real lease ends at once
		}
	}
	return over.Err() != nil
}

// notStarted returns the failure of a command that did not start. command is the program as it was typed.
func notStarted(err error, command string) error {
	f := &failure{code: exitNotExecutable, err: err}
	if errors.Is(err, childprocess.ErrNotFound) {
		f.code = exitNotFound
		if strings.ContainsAny(command, " \t\n|&;<>()$`*") {
			f.hint = "COMMAND is a program and its arguments. For a line of a shell: -- sh -c " + quoted(command)
		}
	}
	return f
}

func (a *app) maxTTL() time.Duration {
	if a.settings.maxTTL.given {
		return a.settings.maxTTL.value
	}
	return 10 * time.Second
}

// unlock releases the locks at once. It only prints an error, because the locks end with their TTL anyway. For a loss
// the library prints a warning.
func (a *app) unlock(h held) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := h.Unlock(ctx); err != nil && !errors.Is(err, holdfast.ErrLost) {
		a.say("%s", trimmed(err))
	}
}
