package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
)

// looksEvery is the pause between two looks at the deadline of a lease. A line about a renewal comes so much later.
const looksEvery = 50 * time.Millisecond

const holdHelp = `hold takes a lock for the program at the other end of its pipes, such as a script
in Python or Ruby. It prints a line of JSON for each event, and keeps the lock until
its standard input ends. So the lock also ends with the program.

  {"event":"granted","name":"orders","fence":1790000000000000,"valid_ms":9640,"until_ms":1790000009640}
  {"event":"renewed","valid_ms":9640,"until_ms":1790000009640}
  {"event":"lost","error":"…"}
  {"event":"released"}

granted comes first, and has the field slot with --slots. renewed comes after each
renewal, about three times in a --ttl. lost comes before another holder can get the
lock, and hold then exits with 76. released comes after the end of the standard
input, and hold then exits with 0. Later versions may add events and fields.

The program relies on the lock for valid_ms, and stops if no newer line comes in
that time: hold itself may be stopped or killed. until_ms is the end of that time in
ms since 1970, by this machine's clock. A line may wait in the pipe, so take the
earlier of the two. The loss of a lock by holdfast unlock comes at the next renewal.

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

// heldEvent is a line of hold.
type heldEvent struct {
	Event   string `json:"event"`
	Name    string `json:"name,omitempty"`
	Fence   int64  `json:"fence,omitempty"`
	Slot    *int   `json:"slot,omitempty"`
	ValidMS *int64 `json:"valid_ms,omitempty"`
	UntilMS *int64 `json:"until_ms,omitempty"`
	Error   string `json:"error,omitempty"`
}

// validUntil sets the time for which a lease counts. It returns false if that time is over.
func (e *heldEvent) validUntil(deadline time.Time) bool {
	left := time.Until(deadline).Milliseconds()
	at := deadline.UnixMilli()
	e.ValidMS, e.UntilMS = &left, &at
	return left > 0
}

// holdFor takes a lock and prints what happens to it until in ends.
func (a *app) holdFor(in io.Reader, out io.Writer, name string, f runFlags) error {
	client, err := a.settings.open(a.talker, func(c *holdfast.Config) { c.TTL = f.ttl.value })
	if err != nil {
		return err
	}
	defer client.Close()
	sig := catchSignals()
	a.signals = *sig
	ended := make(chan struct{}) // closes when the other program has closed its end of the pipe
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, bufio.NewReader(in)) // an error is an end, too
	}()
	h, err := a.acquireUnless(ended, client, name, f, sig)
	if err != nil || h == nil {
		return err
	}
	lease := h.(*holdfast.Lease)
	say := func(e heldEvent) bool { return printJSONLine(out, e) == nil }
	granted := heldEvent{Event: "granted", Name: name, Fence: lease.Fence()}
	if f.slots > 0 {
		slot := lease.Slot()
		granted.Slot = &slot
	}
	deadline := lease.Deadline()
	tick := time.NewTicker(looksEvery)
	defer tick.Stop()
	for heard := granted.validUntil(deadline) && say(granted); heard; {
		select {
		case <-lease.Context().Done():
			return a.tellLoss(say, lease)
		case <-ended:
			heard = false
		case s := <-sig.ch:
			_ = a.endHold(say, lease)
			return signalled(s)
		case <-tick.C:
			if now := lease.Deadline(); now.After(deadline) && lease.Context().Err() == nil {
				renewed := heldEvent{Event: "renewed"}
				deadline, heard = now, renewed.validUntil(now) && say(renewed)
			}
		}
	}
	return a.endHold(say, lease)
}

// acquireUnless takes the lock. It returns nil without an error if ended closes first: nobody wants the lock then.
func (a *app) acquireUnless(ended <-chan struct{}, client *holdfast.Client, name string, f runFlags, sig *signals) (held, error) {
	done := make(chan struct{})
	defer close(done)
	stopped := make(chan struct{})
	go func() {
		select {
		case <-ended:
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
func (a *app) endHold(say func(heldEvent) bool, lease *holdfast.Lease) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := lease.Unlock(ctx)
	switch {
	case errors.Is(err, holdfast.ErrLost):
		return a.tellLoss(say, lease)
	case err != nil:
		a.say("%s; the lock ends with its TTL", trimmed(err))
	}
	say(heldEvent{Event: "released"})
	return nil
}

// tellLoss prints that the lock was lost, and returns the exit code.
func (a *app) tellLoss(say func(heldEvent) bool, lease *holdfast.Lease) error {
	e := heldEvent{Event: "lost"}
	if cause := context.Cause(lease.Context()); cause != nil {
		e.Error = trimmed(cause)
	}
	say(e)
	return exit(exitLost)
}
