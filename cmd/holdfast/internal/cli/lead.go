package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/metrics/promholdfast"
)

const leadHelp = `lead runs COMMAND on one machine of a fleet: on the leader of the election NAME.
Every machine runs the same holdfast lead. Candidates lead in the order in which
they came. If the leader or its machine dies, another candidate leads after
--ttl, --window and a second at most.

COMMAND runs as long as its machine leads:

  - COMMAND exits. lead gives the leadership up, and exits with the same code. It
    does not campaign again, so a supervisor such as systemd should restart it.
  - lead gets TERM, INT, HUP or QUIT. It passes the signal on to COMMAND, and
    keeps the leadership until COMMAND has ended. Without a COMMAND that runs,
    lead exits at once.
  - The leadership is lost. COMMAND gets TERM, before another candidate can lead,
    and KILL after --grace. lead then campaigns again.
  - lead itself is killed. The watchdog ends COMMAND, as for holdfast run.

lead waits through outages of the nodes for as long as they last.

With --publish VALUE the others can see where the leader is: holdfast leader
prints VALUE. It ends with the leadership. With and without it, holdfast list and ui
show NAME as an election.

COMMAND finds in its environment HOLDFAST_NAME, HOLDFAST_FENCE (the number of the
term, larger than those of all earlier terms) and HOLDFAST_OWNER, as with holdfast
run. What holdfast help run says of process groups, of processes that cannot be
ended, and of HOLDFAST_NODES is true here too.

The leader has the lock NAME: lead and holdfast run exclude each other, and
holdfast status shows the lock.

Exit codes: those of holdfast run, but 75 only inside a holdfast run or lead of
the same NAME, and 69 and 76 never.`

// leadFlags contains the flags that only lead has.
type leadFlags struct {
	ttl, grace duration
	maxHold    duration // 0: no limit
	publish    string
	passNodes  bool
	listen     listenAt
}

func (a *app) lead() *cobra.Command {
	f := leadFlags{grace: duration{zero: true, value: 10 * time.Second, given: true}}
	cmd := &cobra.Command{
		Use: "lead [flags] NAME -- COMMAND [ARG…]",

		DisableFlagsInUseLine: true,
		Short:                 "Run a command on the leader of a fleet",
		Long:                  leadHelp + fmt.Sprintf(endpointHelp, ", if too few nodes\nvote"),
		Example:               "  holdfast lead db-writer -- ./writer\n  holdfast lead --publish 10.0.0.3:8080 db-writer -- ./writer",
		Args:                  func(*cobra.Command, []string) error { return nil }, // see leadArguments
		PreRunE:               a.configure,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, command, err := leadArguments(args, cmd.ArgsLenAtDash())
			if err == nil {
				err = f.check()
			}
			if err != nil {
				return err
			}
			c, err := a.leadWith(name, command, f)
			a.interrupted(c, err)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.publish, "publish", "", "show this value to holdfast leader and to observers, such as the address of the leader")
	_ = cmd.RegisterFlagCompletionFunc("publish", cobra.NoFileCompletions)
	flags.Var(&f.ttl, "ttl", "time after which the leadership of a dead leader ends (default 10s, or --max-ttl if less)")
	flags.Var(&f.maxHold, "max-hold", "end COMMAND after this time and give the leadership up, so that another candidate leads; then try to lead again (default: no limit)")
	flags.Var(&f.grace, "grace", "time between TERM and KILL when COMMAND must end: the leadership is lost, COMMAND leaves processes behind, or lead is killed. After a TERM that lead passes on, lead waits for COMMAND without a limit")
	flags.BoolVar(&f.passNodes, "pass-nodes", false, "pass HOLDFAST_NODES on to COMMAND even if it contains passwords")
	f.listen.register(flags)
	return cmd
}

// leadArguments splits NAME -- COMMAND, as nameAndCommand does for run.
func leadArguments(args []string, dash int) (name string, command []string, err error) {
	if dash > 1 {
		return "", nil, usage(fmt.Errorf("%d names before the --, but one is needed", dash),
			"quote a name with spaces: holdfast lead "+quoted(strings.Join(args[:dash], " "))+" -- …")
	}
	name, command, err = nameAndCommand(args, dash)
	if err != nil {
		f := asFailure(err)
		f.hint = strings.ReplaceAll(f.hint, "holdfast run", "holdfast lead")
	}
	return name, command, err
}

func (f *leadFlags) check() error {
	if n := len(f.publish); n > election.MostPublished {
		return usage(fmt.Errorf("--publish has %d bytes; at most %d are allowed", n, election.MostPublished), "publish an address, and serve the rest there")
	}
	return nil
}

// errLed ends the campaign after the command has ended.
var errLed = errors.New("the command has ended")

// leadWith runs command each time this process leads, until the command ends by itself. It returns the last command
// that started.
func (a *app) leadWith(name string, command []string, f leadFlags) (*childprocess.Child, error) {
	end, err := a.endpoint(f.listen, promholdfast.Options{}, "elections")
	if err != nil {
		return nil, err
	}
	defer end.close()
	start, err := a.launch(command[0], f.ttl.value, end.observe)
	if err != nil {
		return nil, err
	}
	defer start.client.Close()
	if err := end.serve(start.client, end.candidate(start.client, name)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	w := &waiter{talker: a.talker, settings: &a.settings, client: start.client, through: true, give: cancel}
	l := &leading{app: a, command: command, path: start.path, f: f, sig: start.sig, cancel: cancel, waiter: w, endpoint: end}
	l.campaign()
	err = election.New(start.client, name, election.WithLock(holdfast.OnWait(w.refused)), election.ResignPause(0)).Run(ctx, l.term)
	if l.stop != nil { // lead ended during a campaign
		if s := l.stop(); s != nil {
			return l.child, s
		}
	}
	switch {
	case l.failed != nil || errors.Is(err, errLed):
		return l.child, l.failed
	case errors.Is(err, errSelf):
		return nil, &failure{code: exitHeld, err: fmt.Errorf("election %q: %w", name, errSelf), hint: "give the election another name than the run around it"}
	}
	return nil, usage(inFlags(err), "")
}

// leading is a running holdfast lead.
type leading struct {
	*app
	command  []string
	path     string
	f        leadFlags
	sig      *signals
	cancel   context.CancelCauseFunc // ends the campaign
	waiter   *waiter
	endpoint *endpoint    // nil without --metrics-listen
	stop     func() error // stops the handling of signals during a campaign and returns the failure for a signal; nil while the command runs

	child  *childprocess.Child
	failed error // the result of holdfast lead
}

// campaign makes signals end the campaign, until stop is called.
func (l *leading) campaign() {
	l.hold()
	l.stop = l.sig.interrupt(l.cancel)
}

// term runs the command during one term. It returns nil if the leadership was lost. It returns an error if lead must
// end.
func (l *leading) term(ctx context.Context, term election.Term) error {
	s := l.stop()
	if l.stop = nil; s != nil {
		return l.end(s)
	}
	l.resume()
	lease, _ := holdfast.FromContext(ctx)
	l.endpoint.leads(true)
	defer l.endpoint.leads(false)
	l.note("leading %q, term %d", lease.Name(), term.Fence)
	l.waiter.said = ""
	dog, err := childprocess.StartWatchdog(l.f.grace.value, l.settings.windowOrDefault(), l.tell)
	if err != nil {
		return l.end(err)
	}
	defer dog.Dismiss()
	h := newHolding(lease, []string{lease.Name()}, nil)
	c, err := childprocess.Start(childprocess.Command{
		Path: l.path, Args: l.command, Env: l.settings.environment(h, l.f.passNodes),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Signals: l.sig.forward(), Until: until(h), Watchdog: dog, Report: l.tell,
	})
	switch {
	case errors.Is(err, childprocess.ErrLate):
		l.say("election %q: %v; campaigning again", lease.Name(), err)
		l.sig.received()
		l.campaign()
		return nil
	case err != nil:
		return l.end(notStarted(err, ""))
	}
	var publishing sync.WaitGroup
	told, quiet := context.WithCancel(ctx)
	publishing.Go(func() { l.publish(told, term) })
	lost := l.supervise(c, h, l.f.grace.value, l.f.maxHold.value)
	quiet()
	publishing.Wait()
	c.Finish()
	if l.child = c; !lost {
		return l.end(exit(c.Exit().Code()))
	}
	l.sig.received()
	if by := c.EndedBy(); by != 0 { // a signal ended the command, so lead ends, too
		return l.end(exit(exitSignal + int(by)))
	}
	l.campaign()
	return nil
}

// end sets the result of lead. It also ends the campaign: if the lock was just lost, a new campaign would begin
// otherwise.
func (l *leading) end(result error) error {
	l.failed = result
	l.cancel(errLed)
	return errLed
}

// publish publishes the value of --publish. Without one it announces the election, so that the others list it. It tries
// again while too few nodes answer.
func (l *leading) publish(ctx context.Context, term election.Term) {
	show := func() error { return term.Publish(ctx, []byte(l.f.publish)) }
	said := false
	if l.f.publish == "" { // its errors are not told: the election is then listed as a lock
		show = func() error { return term.Announce(ctx) }
	}
	for {
		err := show()
		if err == nil || ctx.Err() != nil {
			return
		}
		if l.f.publish != "" && (!said || !errors.Is(err, holdfast.ErrUnavailable)) {
			said = true
			l.tell("the value of --publish is not shown: %s", trimmed(err))
		}
		if !errors.Is(err, holdfast.ErrUnavailable) {
			return
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}
