package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/verdict"
)

// unlockFlags contains the flags that only unlock has.
type unlockFlags struct {
	force, yes bool
	owner      string
	slots      slotCount
}

func (a *app) unlocking() *cobra.Command {
	var f unlockFlags
	cmd := &cobra.Command{
		Use:   "unlock NAME --force",
		Short: "Take a lock away from its holder",
		Long: `unlock takes the lock NAME away from its holder, for example because the holder
hangs. End the holder instead if you can: holdfast status names it.

The first waiter gets the lock at once. The work of the old holder goes on until
it notices: at its next renewal, usually within a third of its TTL, and at most
its TTL later. A paused process notices when it goes on. For that time two
holders may believe that they have the lock. The new one has the higher fencing
token. holdfast run then ends its command and exits with 76.

On a terminal unlock names the holders and asks, unless --yes is given. In a
script --yes is needed. unlock takes the lock away only from the holders that it
has named: with --owner from this owner only, as status and list --json print it.
All readers of one process have one owner. Of many readers it names the first 100:
repeat the command for the others. For a semaphore give --slots.

It exits with 0 if the lock is free now or was free before, with 1 if the answer
was no, with 75 if other owners have the lock, and with 69 if too few nodes
answered: the holder may then keep the lock, so repeat the command. Ctrl-C at the
question takes nothing away; shells report it as 130.`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return usage(fmt.Errorf("unlock needs one name, but was given %d", len(args)), "the form is holdfast unlock NAME --force")
			case !f.force:
				return usage(errors.New("unlock takes a lock away from a holder that may still work under it; it needs --force"),
					"holdfast status "+args[0]+" names the holder: end it, and the lock ends by itself")
			case cmd.Flags().Changed("owner") && f.owner == "":
				return usage(errors.New("--owner is empty, and unlock would take the lock away from every holder; name an owner, or leave --owner out"),
					"holdfast status "+args[0]+" names the owners")
			}
			return needsYes(cmd, f.yes)
		},
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, args []string) error {
			ask := a.sure
			if f.yes {
				ask = nil
			}
			return a.withNodes(func(client *holdfast.Client) error { return a.takeAway(cmd.OutOrStdout(), client, args[0], f, ask) })
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&f.force, "force", false, "take the lock away although its holder may still work")
	cmd.Flags().StringVar(&f.owner, "owner", "", "only from this owner")
	cmd.Flags().Var(&f.slots, "slots", "NAME is a semaphore with this many slots")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	_ = cmd.RegisterFlagCompletionFunc("owner", cobra.NoFileCompletions)
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// takeAway ends the leases of a name, if ask returns true. If ask is nil, takeAway does not ask.
func (a *app) takeAway(out io.Writer, client *holdfast.Client, name string, f unlockFlags, ask func(question string) bool) error {
	ctx := context.Background()
	look := func() (*holdfast.Status, error) { return client.Status(ctx, name) }
	if f.slots > 0 {
		look = func() (*holdfast.Status, error) { return client.Semaphore(name, int(f.slots)).Status(ctx) }
	}
	s, err := look()
	if err != nil {
		return a.unlockFailure(err)
	}
	o := admin.UnlockOptions{Slots: int(f.slots)}
	var shown []string
	for _, h := range s.Holders {
		if h.Offered || h.Foreign || f.owner != "" && h.Owner != f.owner {
			continue
		}
		o.Owners = append(o.Owners, h.Owner)
		shown = append(shown, inFull(h, s.Slots > 0))
	}
	more := 0 // readers that are not in the list
	if f.owner == "" {
		more = max(s.Readers-len(o.Owners), 0)
	}
	switch {
	case !s.Held || s.Holder().Offered && len(o.Owners) == 0:
		fmt.Fprintf(out, "%s is free\n", printable.Quoted(name))
		if f.slots == 0 && !s.Held {
			if heldSlots(client, name) > 0 {
				a.note("hint: slots of a semaphore with this name are held: add --slots K, with its number of slots")
			}
		}
		return nil
	case len(o.Owners) == 0: // Unlock finds the reason
		o.Owners = []string{f.owner}
	default:
		slices.Sort(o.Owners)
		o.Owners = slices.Compact(o.Owners)
		if more > 0 {
			a.say("%s has %d readers; these are the first %d, and the others keep the lock", printable.Quoted(name), s.Readers, len(shown))
		}
		for _, h := range shown {
			a.say("%s is held by %s", printable.Quoted(name), h)
		}
		if ask != nil && !ask("take it away? The work of the holder may go on for "+forPeople(notice(s))+" [y/N] ") {
			return &failure{code: exitDeclined, err: errors.New("nothing was taken away")}
		}
	}
	u, err := admin.Unlock(ctx, client, name, o)
	if u != nil {
		for _, h := range u.Holders {
			a.say("audit: %s took %s away from %s", operator(), printable.Quoted(name), inFull(h, s.Slots > 0))
		}
	}
	if err != nil {
		return a.unlockFailure(err)
	}
	if len(u.Holders) == 0 {
		fmt.Fprintf(out, "%s is free: its holder has ended it meanwhile\n", printable.Quoted(name))
		return nil
	}
	if more > 0 {
		return &failure{
			code: exitHeld, err: fmt.Errorf("%s is taken away from %d of %d readers", printable.Quoted(name), len(u.Holders), s.Readers),
			hint: "repeat the command for the others",
		}
	}
	fmt.Fprintf(out, "%s is taken away; the old holder notices within %s, or when its process goes on\n", printable.Quoted(name), forPeople(u.Notice))
	return nil
}

func (a *app) unlockFailure(err error) error {
	var un *holdfast.UnavailableError
	var held *holdfast.HeldError
	switch {
	case errors.As(err, &un):
		return &failure{code: exitUnavailable, err: err, hint: a.settings.unavailableHint(un)}
	case errors.As(err, &held) && held.Holder().Foreign:
		return &failure{code: exitHeld, err: err, hint: "it belongs to another library or a person: delete the key with the lock's name on the nodes (DEL)"}
	case errors.As(err, &held):
		return &failure{code: exitHeld, err: err, hint: "its owner is " + printable.Quoted(held.Holder().Owner)}
	}
	return usage(inFlags(err), "")
}

// inFull describes a holder with everything that an operator needs to recognize it.
func inFull(h verdict.Holder, slot bool) string {
	s := h.String()
	if slot {
		s += fmt.Sprintf(" (slot %d)", h.Slot)
	}
	if !h.Since.IsZero() {
		s += fmt.Sprintf(", since %s (%s)", moment(h.Since), forPeople(time.Since(h.Since)))
	}
	return s + fmt.Sprintf(", fence %d, owner %s", h.Fence, printable.Quoted(h.Owner))
}

// notice returns the time after which all holders know that their lease has ended. If a renewal is under way, they may
// know later.
func notice(s *holdfast.Status) (longest time.Duration) {
	for _, h := range s.Holders {
		longest = max(longest, time.Until(h.Until))
	}
	return longest
}

// operator returns the name of the person who runs the command, for the audit line.
func operator() string {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

// needsYes returns an error if there is nobody to ask, and the answer was not given as --yes.
func needsYes(cmd *cobra.Command, yes bool) error {
	if yes || term.IsTerminal(os.Stdin.Fd()) {
		return nil
	}
	return usage(fmt.Errorf("%s asks on a terminal, and there is none; it needs --yes", strings.TrimPrefix(cmd.CommandPath(), "holdfast ")), "")
}

// sure asks a question on the terminal.
func (t *talker) sure(question string) bool {
	t.ask(question)
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}
