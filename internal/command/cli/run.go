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
	"github.com/holdfast-go/holdfast/internal/command/childprocess"
	"github.com/holdfast-go/holdfast/job"
)

const runForm = "holdfast run NAME -- COMMAND [ARG…]"

const runHelp = `run waits for the lock NAME, runs COMMAND while it holds the lock, and then
releases the lock. With --also OTHER, which may occur several times, it takes
all these locks or none, and COMMAND ends as soon as one of them is lost. Runs
that name the same locks in different orders do not wait for each other for
ever. At most 256 names can be given.

If no quorum of the nodes answers, run gives up with 69 after a second. If it
has found before that somebody has the lock, it gives up after --ttl instead, if
that is longer. --wait can end the wait sooner, and not make it longer. With
--wait 0 run tries once. run waits for the end of quarantines, and with
--through-outages for the end of all outages: then only --wait ends the wait.

A holdfast run inside COMMAND may ask for the same lock. It then runs its own
command at once, under the lock and with the token of the outer run. Its --ttl,
--at-least and --grace have no effect. With --no-reentry it exits with 75
instead, also if --skip-ok is given. It also exits with 75 outside the process
group of the outer run's COMMAND (setsid, timeout without --foreground, set -m):
nobody would end its command with the lock. Two inner runs at the same time run
together. If an inner run has other names too, it takes only those that the
outer run does not have. It then waits while it holds the outer locks. Two such
runs can wait for each other for ever, unless all take their locks in one order.

With --slots K the lock is a semaphore: up to K commands run at a time, each in a
slot of its own. Every run uses the slots below its own K. Lock and semaphore of
one NAME do not exclude each other. A run inside COMMAND that asks for the same
semaphore takes another slot; give it a --wait, because the outer run keeps its
slot meanwhile.

With --shared the lock is taken as by flock -s: any number of runs with --shared
have it together, and a run without --shared has it alone. Inside a run without
--shared, a run with --shared runs its command at once, as above. Inside a run
with --shared, a run without it would wait for itself: it exits with 75.

With --tick SCHEDULE run is a job of a fleet: a crontab that is the same on every
machine calls it, and one machine runs COMMAND for each tick. The tick is the
last one of SCHEDULE by the clocks of the nodes, so the clocks of the machines do
not matter. If the tick was taken, run exits with 0 and prints nothing; with -v
it says who ran it. If the run of an earlier tick goes on, run waits for its end.
SCHEDULE is a duration such as 1h, or a schedule as in holdfast help cron.
COMMAND finds its tick in HOLDFAST_TICK. holdfast jobs shows the result.

NAME is nearly any text up to 1 KiB. run refuses a name whose braces { } do not
come in pairs, a name whose first pair of braces is empty, and a name that looks
like a key of holdfast. The arguments after the -- belong to COMMAND. It finds
in its environment:

  HOLDFAST_NAME    the name of the lock
  HOLDFAST_FENCE   the fencing token: larger than that of every earlier holder.
                   Send it with each write; the resource refuses smaller ones
  HOLDFAST_OWNER   the random id under which the nodes store the lock
  HOLDFAST_NAME_1, HOLDFAST_FENCE_1
                   the name and the fencing token of the first --also; those of
                   the second end in _2, and so on
  HOLDFAST_OWNERS  the owners of all locks under which COMMAND runs, the
                   innermost last
  HOLDFAST_FENCES  their fencing tokens, in the same order
  HOLDFAST_SLOT    with --slots: the slot, from 0; no other holder has it now
  HOLDFAST_GROUP   the process group of COMMAND

If HOLDFAST_NODES contains a user or a password, it is empty for COMMAND,
because logs and crash reports show the environment of a command. If COMMAND
contains another holdfast run, give --pass-nodes.

COMMAND and the processes that it starts form one process group. run passes INT,
TERM, HUP, QUIT, USR1, USR2 and Ctrl-Z on to the group. The group never goes on
without the lock:

  - The lock is lost. The group gets TERM, before another client can get the
    lock, and KILL after --grace. The exit code is 76. A process that needs more
    than a second to end after TERM overlaps with the next holder. Use a shorter
    --grace, or the token.
  - COMMAND exits and leaves other processes of its group behind. They get TERM
    and KILL in the same way, before the lock is released.
  - holdfast itself is killed with SIGKILL, or is stopped past the end of the
    lock. A second holdfast process, the watchdog, then ends the group in the
    same way. After a SIGKILL it sends KILL at the end of the lock at the
    latest. On Linux the command also gets TERM from the kernel. If a watchdog
    dies, another one replaces it, and stderr says so.
  - holdfast or its machine is paused between the lock and the start of COMMAND
    until the lock has ended. COMMAND is not started. The exit code is 76.

run cannot end these processes:

  - Processes that leave the group: setsid, a daemon, a container that a server
    starts, timeout inside a script (use timeout --foreground), a script with
    set -m. A holdfast run inside COMMAND has its command in another group, and
    passes TERM on to it.
  - Processes of another user. Write sudo holdfast run …, and not sudo after
    the --.
  - If holdfast is killed together with its watchdog, or within a second after
    the watchdog died: the processes that COMMAND started, and COMMAND if it
    ignores TERM. On other systems than Linux also any COMMAND.

While Ctrl-Z stops COMMAND, the lock is not renewed. If the lock ends in that
time, COMMAND ends too.

Exit codes: see holdfast help exit-codes.`

// runFlags are the flags of run itself.
type runFlags struct {
	also                       nameList
	ttl, wait, atLeast, grace  duration
	skipOK, passNodes, through bool
	noReentry                  bool
	slots                      slotCount // 0: a lock
	shared                     bool
	tick                       tickFlag
	onCrash                    crashFlag
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
			if f.slots > 0 && len(f.also) > 0 {
				return usage(errors.New("--also and --slots do not go together"), "take the locks with another holdfast run inside")
			}
			if f.tick.schedule != nil {
				if err := f.checkTick(name); err != nil {
					return err
				}
				c, err := a.runTick(name, command, f)
				a.interrupted(c, err)
				return err
			}
			if cmd.Flags().Changed("on-crash") {
				return usage(errors.New("--on-crash has no meaning without --tick"), "")
			}
			if f.shared && (f.slots > 0 || len(f.also) > 0) {
				return usage(errors.New("--shared goes together with neither --also nor --slots"), "take the locks with another holdfast run inside")
			}
			c, err := a.runUnder(append([]string{name}, f.also...), command, f)
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
	flags.Var(&f.atLeast, "at-least", "keep the lock taken for this time after its acquisition, even if the command ends sooner. The nodes' clocks count; by other clocks it may be 1.5 × --window less. After a signal the nodes keep it for at most --max-ttl more")
	flags.Var(&f.grace, "grace", "time between TERM and KILL when the command must end")
	flags.BoolVar(&f.passNodes, "pass-nodes", false, "pass HOLDFAST_NODES on to COMMAND even if it contains passwords, for a holdfast run inside")
	flags.BoolVar(&f.noReentry, "no-reentry", false, "exit with 75 if an outer holdfast run has the lock, instead of running COMMAND under it")
	flags.Var(&f.tick, "tick", "run COMMAND only if nobody has run it for the present tick of this schedule, such as 1h or \"30 2 * * *\"; else exit with 0")
	flags.Var(&f.onCrash, "on-crash", "with --tick: if the run dies, the tick is over (skip), or a later run may take it again (retry)")
	flags.BoolVar(&f.skipOK, "skip-ok", false, "exit with 0 instead of 75 if somebody else has the lock")
	return cmd
}

var errNoDashes = errors.New("there is no -- between the name and the command")

// nameAndCommand splits NAME -- COMMAND. dash is the number of arguments before the --, or -1.
func nameAndCommand(args []string, dash int) (name string, command []string, err error) {
	form := "the form is " + runForm
	switch {
	case dash == 0 && len(args) > 2 && args[1] == "--":
		return args[0], args[2:], nil // -- NAME -- COMMAND: this form is for a name that begins with -
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
	// This check comes before the lock, because no waiter should wait for a run that cannot start.
	if err := childprocess.Supported(); err != nil {
		return nil, notStarted(err)
	}
	path, err := childprocess.Find(command[0])
	if err != nil {
		return nil, notStarted(err)
	}
	client, err := a.settings.open(a.talker, func(c *holdfast.Config) { c.TTL = f.ttl.value })
	if err != nil {
		return nil, err
	}
	defer client.Close()

	sig := catchSignals()
	a.signals = *sig
	// The watchdog starts during the wait for the lock, so it costs no time.
	dog, err := childprocess.StartWatchdog(f.grace.value, a.settings.windowOrDefault(), a.tell)
	if err != nil {
		return nil, err // without a watchdog no command may start
	}
	a.detail("the watchdog is process %d", dog.PID())
	defer dog.Dismiss()

	h, err := a.acquireAll(client, names, f, sig)
	if err != nil {
		return nil, err
	}
	if h.held == nil { // outer runs have all locks
		client.Close()
		dog.Dismiss()
		return nil, a.reenter(h.all, path, command, f.passNodes, sig)
	}
	acquired := time.Now()
	c, err := childprocess.Start(childprocess.Command{
		Path: path, Args: command, Env: environment(h, f.passNodes),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Signals: sig.forward(), Until: until(h), Watchdog: dog, Report: a.tell,
	})
	switch {
	case errors.Is(err, childprocess.ErrLate):
		return nil, a.late(h)
	case err != nil:
		a.unlock(h)
		return nil, notStarted(err)
	}
	lost := a.supervise(c, h, f.grace.value)
	c.Finish()
	if lost {
		return c, exit(exitLost)
	}
	return c, a.giveBack(h, acquired.Add(f.atLeast.value), a.maxTTL(), sig.received(), c)
}

// acquireAll takes the locks that no outer run holds. If outer runs hold all locks, the held of the result is nil.
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

// until returns a function that returns the earliest deadline. If a lease has ended early, that function returns an
// instant long ago.
func until(h held) func() time.Time {
	return func() time.Time {
		if h.Context().Err() != nil {
			return time.Time{}
		}
		return h.Deadline()
	}
}

// late releases locks whose command could not begin in time, because this process or the host was paused. late treats
// this as a loss, because another client may have had the lock since.
func (a *app) late(h *holding) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = h.Unlock(ctx) // the error only says that a lease was lost
	return &failure{
		code: exitLost, err: fmt.Errorf("lock %s: %w; nothing was run", quotedAll(h.names), childprocess.ErrLate),
		hint: "holdfast stood still for longer than the lock lasts: a larger --ttl survives longer pauses of this machine",
	}
}

// interrupted ends holdfast by INT if INT ended the command, the wait, or the stay on a terminal. A shell script that
// runs holdfast should then end too, and the exit code 130 would not tell the script. All cleanup is complete here.
func (a *app) interrupted(c *childprocess.Child, err error) {
	f := asFailure(err)
	if c != nil && c.Exit().Code() == f.code {
		if c.Exit().Signal == 0 {
			return // this exit code comes from the command itself
		}
		c.Relay()
	}
	if f.code == exitSignal+int(syscall.SIGINT) && childprocess.OnTerminal() {
		a.fail(f)
		a.finish(f.code, a.signals.ch)
		childprocess.Interrupt()
	}
}

// supervise returns when no process of the command's group is alive. lost says whether the lock was lost before that.
func (a *app) supervise(c *childprocess.Child, h *holding, grace time.Duration) (lost bool) {
	over := h.Context()
	select {
	case <-over.Done():
		a.tell("lock %q lost: ending the command", h.lost())
		c.End(grace)
		return true
	case <-c.Exited():
	}
	if !c.Left() {
		return false
	}
	a.tell("the command has exited but left processes behind; ending them before the lock is given back")
	c.End(grace)
	if over.Err() != nil {
		a.say("lock %q lost meanwhile", h.lost())
		return true
	}
	return false
}

// nodesVariable is the environment variable with the nodes.
const nodesVariable = "HOLDFAST_NODES"

// environment returns the environment of the command. It replaces the variables of an outer run: the innermost lock
// wins.
func environment(h *holding, passNodes bool) []string {
	env := slices.DeleteFunc(inherited(passNodes), func(kv string) bool {
		return strings.HasPrefix(kv, "HOLDFAST_OWNERS=") || strings.HasPrefix(kv, "HOLDFAST_FENCES=")
	})
	owners, fences := outerOwners(), outerFences()
	if !childprocess.InGroup() { // this run does not end with the locks around it, and neither does its command
		for i := range fences {
			fences[i] = noFence
		}
	}
	for _, l := range slices.Backward(h.all) { // NAME is the innermost
		if !slices.Contains(owners, l.owner) {
			owners, fences = append(owners, l.owner), append(fences, l.fence)
		}
	}
	env = append(append(env, naming(h.all)...), h.slot()...)
	return append(env, "HOLDFAST_OWNERS="+strings.Join(owners, " "), "HOLDFAST_FENCES="+strings.Join(fences, " "))
}

// noFence is written instead of the token of a lock that does not end the command.
const noFence = "-"

// secret reports whether the text may contain a user or a password. It does not parse the URLs. So it may hide too many
// of them, but never too few.
func secret(nodes string) bool { return strings.ContainsAny(nodes, "@?%") }

// outerOwners returns the owners of the locks under which this process was started. The innermost lock is last. An
// owner contains no spaces: see [holdfast.Config.Label].
func outerOwners() []string { return strings.Fields(os.Getenv("HOLDFAST_OWNERS")) }

// outerFences returns the tokens of the locks under which this process was started, in the order of outerOwners.
func outerFences() []string { return strings.Fields(os.Getenv("HOLDFAST_FENCES")) }

func notStarted(err error) error {
	code := exitNotExecutable
	if errors.Is(err, childprocess.ErrNotFound) {
		code = exitNotFound
	}
	return &failure{code: code, err: err}
}

func (a *app) maxTTL() time.Duration {
	if a.settings.maxTTL.given {
		return a.settings.maxTTL.value
	}
	return 10 * time.Second
}

// unlock releases the locks at once. It only reports an error, because the lock ends with its TTL anyway.
func (a *app) unlock(h held) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := h.Unlock(ctx); err != nil {
		a.say("%s", trimmed(err))
	}
}
