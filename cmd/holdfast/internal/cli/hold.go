package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
)

// looksEvery is the pause between two looks at the deadline of a lease, and at the parent process.
const looksEvery = 50 * time.Millisecond

const holdHelp = `hold takes a lock for the program at the other end of its pipes, such as a script
in Python or Ruby. It prints a line of JSON for each event, and keeps the lock until
it reads a line "release" or the end of its standard input. So the lock also ends
with the program.

  {"event":"granted","name":"orders","fence":1790000000000000,"valid_ms":9640,
   "until_ms":1790000009640,"until_uptime_ms":86409640}
  {"event":"renewed","valid_ms":9640,"until_ms":…,"until_uptime_ms":…}
  {"event":"ending","valid_ms":7200,"until_ms":…,"until_uptime_ms":…}
  {"event":"lost","error":"…"}
  {"event":"released"}

granted comes first, and has the field slot with --slots. renewed comes after each
renewal, about three times in a --ttl. lost comes before another holder can get the
lock, and hold then exits with 76. released comes after the release, and hold then
exits with 0. Later versions may add events and fields.

The program relies on the lock until until_uptime_ms, in ms by the first number of
/proc/uptime (on Linux only), and stops if no newer line comes in that time: hold
itself may be stopped or killed. Elsewhere it relies on the lock for valid_ms after
it reads the line, or until until_ms by the clock of the machine, whichever is
earlier; then no clock may be set back, and the machine not be suspended. The loss
of a lock by holdfast unlock comes at the next renewal.

A signal often reaches the program, too, and the program may not have ended its work.
So hold prints ending, and keeps the lock until the program releases it, or until the
end of the time that the last line gave. It does the same if nobody reads its lines,
or if its parent process ends and another process keeps its standard input open. A
second signal ends hold at once, and the lock with its TTL. On a terminal the first
signal releases the lock.

fence is the fencing token. It grows from holder to holder.

Without a lock hold prints no event. It says why on standard error, and exits with
75 if somebody has the lock and --wait is over, with 69 without a quorum, and with
128+n after signal n. If the standard input ends during the wait, it exits with 0.`

func (a *app) holding() *cobra.Command {
	f := runFlags{wait: duration{zero: true}}
	cmd := &cobra.Command{
		Use:                   "hold [flags] NAME",
		DisableFlagsInUseLine: true,
		Short:                 "Hold a lock for a program in another language",
		Long:                  holdHelp,
		Example:               "  holdfast hold --wait 30s orders\n  holdfast hold --slots 4 partner-api",
		PreRunE:               a.configure,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(errors.New("hold needs one name"), "the form is holdfast hold [flags] NAME")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.shared && f.slots > 0 {
				return usage(errors.New("--shared and --slots do not go together"), "")
			}
			return a.holdFor(cmd.InOrStdin(), cmd.OutOrStdout(), args[0], f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&f.ttl, "ttl", "time after which the lock of a dead holder ends (default 10s, or --max-ttl if less)")
	flags.Var(&f.wait, "wait", "how long to wait for the lock; 0 tries once (default: for ever; an outage of the nodes can end it sooner)")
	flags.Var(&f.slots, "slots", "take one of this many slots of a semaphore, instead of a lock")
	flags.BoolVar(&f.shared, "shared", false, "take the lock as a reader: other readers may have it too")
	flags.BoolVar(&f.through, "through-outages", false, "keep waiting while no quorum of the nodes answers; --wait still limits the wait")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// holdFor takes a lock and prints what happens to it, until the program at the other end of in releases it.
func (a *app) holdFor(in io.Reader, out io.Writer, name string, f runFlags) error {
	p := partnerOf(in, out) // first, because its process may end soon
	client, err := a.settings.open(a.talker, func(c *holdfast.Config) { c.TTL = f.ttl.value })
	if err != nil {
		return err
	}
	left := false // hold ends before the lock
	defer func() {
		if !left {
			client.Close()
		}
	}()
	sig := a.catchSignals()
	h, err := a.acquireUnless(p, client, name, f, sig)
	if err != nil || h == nil {
		return err
	}
	lease := h.(*holdfast.Lease)
	lines := newHoldLines(out)
	defer lines.flush()
	granted := heldEvent{Event: "granted", Name: name, Fence: lease.Fence()}
	if f.slots > 0 {
		slot := lease.Slot()
		granted.Slot = &slot
	}
	told := reliesOn(lease)
	lines.put(granted, told)
	tick := time.NewTicker(looksEvery)
	defer tick.Stop()
	var ending error // why hold ends before the program releases the lock
	over, failed := (<-chan time.Time)(nil), lines.failed
	end := func(why error) {
		ending, over = why, time.After(time.Until(told.deadline))
		lines.put(heldEvent{Event: "ending"}, told)
	}
	for {
		select {
		case <-lease.Context().Done():
			return a.tellLoss(lines, lease)
		case <-p.ended:
			return a.endHold(lines, lease, ending)
		case <-over:
			return a.endHold(lines, lease, ending)
		case s := <-sig.ch:
			switch {
			case lease.Context().Err() != nil:
				return a.tellLoss(lines, lease)
			case p.terminal: // a person, who does not rely on the lock any more
				return a.endHold(lines, lease, signalled(s))
			case over != nil:
				// The program may rely on the lock for some time. The nodes keep it for longer, by the margin for clocks.
				left = true
				return signalled(s)
			}
			end(signalled(s))
		case <-failed:
			if failed = nil; over == nil {
				end(&failure{code: exitOK})
			}
		case <-tick.C:
			if p.orphaned() && over == nil {
				end(&failure{code: exitOK})
			}
			now := reliesOn(lease)
			if over == nil && now.deadline.Sub(told.deadline) > looksEvery && lease.Context().Err() == nil { // less is the error of two clocks
				told = now
				lines.put(heldEvent{Event: "renewed"}, told)
			}
		}
	}
}

// acquireUnless takes the lock. It returns nil without an error if the program ends first: nobody wants the lock then.
func (a *app) acquireUnless(p *partner, client *holdfast.Client, name string, f runFlags, sig *signals) (held, error) {
	done := make(chan struct{})
	defer close(done)
	stopped := make(chan struct{})
	go func() {
		select {
		case <-p.ended:
			close(stopped)
			sig.ch <- gone
		case <-done:
		}
	}()
	h, err := a.acquire(client, []string{name}, f, sig)
	select {
	case <-stopped:
		if h != nil {
			a.unlock(h)
		}
		return nil, nil
	default:
		return h, err
	}
}

// gone is the signal that ends a wait for a program that is gone. The system sends it for a pipe without a reader.
const gone = syscall.SIGPIPE

// endHold gives the lock back. If nobody reads the line, the lock is given back all the same.
func (a *app) endHold(lines *holdLines, lease *holdfast.Lease, why error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := lease.Unlock(ctx)
	switch {
	case errors.Is(err, holdfast.ErrLost):
		return a.tellLoss(lines, lease)
	case err != nil:
		return &failure{code: exitUnavailable, err: fmt.Errorf("%s; the lock ends with its TTL", trimmed(err))}
	}
	lines.put(heldEvent{Event: "released"}, trust{})
	return why
}

// tellLoss prints that the lock was lost, and returns the exit code.
func (a *app) tellLoss(lines *holdLines, lease *holdfast.Lease) error {
	e := heldEvent{Event: "lost"}
	if cause := context.Cause(lease.Context()); cause != nil {
		e.Error = trimmed(cause)
	}
	lines.put(e, trust{})
	return exit(exitLost)
}
