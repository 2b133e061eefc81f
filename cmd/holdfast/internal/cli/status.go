package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/verdict"
)

func (a *app) status() *cobra.Command {
	var asJSON bool
	var slots slotCount
	cmd := &cobra.Command{
		Use:   "status NAME",
		Short: "Show the holder of a lock",
		Long: `status shows the holder of the lock NAME: since when and until when it holds the
lock, its fencing token, and the answer of each node. It changes no lock.

A node that does not vote may have forgotten the holder, for example after a
restart. So status says "free" only if a majority of the nodes vote and know no
holder. If too few nodes answer or vote, it says "not known" and exits with 69.
If votes are missing, it asks for them as holdfast nodes does: this starts the
quarantine of a new node.

If NAME is a job, status also shows its last run as holdfast jobs does: the tick,
the state, the machine, the error and the next tick.

A lock and a semaphore may have one NAME. Without --slots, status shows the lock. If
it is free, the text also says how many slots of the semaphore NAME are held.

With --slots K it shows the holder of each slot of the semaphore NAME.`,
		Args:    one("name"),
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.settings.open(a.talker, nil)
			if err != nil {
				return err
			}
			defer client.Close()
			a.hold() // the command prints the same facts as the library's warnings
			return a.showStatus(cmd.OutOrStdout(), client, args[0], int(slots), asJSON)
		},
	}
	cmd.Flags().Var(&slots, "slots", "show this many slots of a semaphore, instead of a lock")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) showStatus(out io.Writer, client *holdfast.Client, name string, slots int, asJSON bool) error {
	ask := func(ctx context.Context) (*holdfast.Status, error) { return client.Status(ctx, name) }
	if slots > 0 {
		ask = client.Semaphore(name, slots).Status
	}
	s, err := ask(context.Background())
	if s == nil {
		return usage(inFlags(err), "")
	}
	var jobs map[string]job.Outcome // at most one entry
	if err == nil && slots == 0 {
		jobs, _ = lookUp(context.Background(), client, []string{name}) // ignore the error: most names are not jobs
	}
	slotsHeld := 0
	if err == nil && slots == 0 && !s.Held && !asJSON {
		slotsHeld = heldSlots(client, name)
	}
	j := statusJSON(s, err == nil)
	for _, last := range jobsJSON(jobs, time.Now(), false) {
		j.Job = &last
	}
	if e := show(out, asJSON, j, func() error { return printStatus(out, s, jobs, slotsHeld, err != nil) }); e != nil {
		return e
	}
	var un *holdfast.UnavailableError
	if errors.As(err, &un) {
		return &failure{code: exitUnavailable, err: err, hint: a.settings.unavailableHint(un)}
	}
	if slotsHeld > 0 {
		a.note("hint: to see the semaphore %s, add --slots K, with its number of slots", printable.Quoted(name))
	}
	return err
}

// slotsOfHint is the number of slots at which status looks before it calls a lock free. Each slot costs a small request
// to each node.
const slotsOfHint = 16

// heldSlots returns how many of the first slots of a semaphore with this name are held.
func heldSlots(client *holdfast.Client, name string) int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := client.Semaphore(name, slotsOfHint).Status(ctx)
	if err != nil {
		return 0
	}
	return len(s.Holders)
}

// printLastRun prints the last run of a job.
func printLastRun(w io.Writer, last job.Outcome) {
	fmt.Fprintf(w, "last run\t%s, for the tick %s, on %s", shown(string(last.State)), moment(last.Tick), shown(last.Host))
	if last.State != job.Running && last.Took > 0 {
		fmt.Fprintf(w, ", took %s", forPeople(last.Took))
	}
	fmt.Fprintln(w)
	if last.Error != "" {
		fmt.Fprintf(w, "error\t%s\n", shown(last.Error))
	}
	if !last.Next.IsZero() {
		fmt.Fprintf(w, "next tick\t%s\n", moment(last.Next))
	}
}

// printStatus prints the status as text. jobs contains the last run if the name is a job. unsure means that the holder
// is unknown, because too few nodes answered.
func printStatus(out io.Writer, s *holdfast.Status, jobs map[string]job.Outcome, slotsHeld int, unsure bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	h := s.Holder()
	owner := func() {
		if h.Owner != "" {
			fmt.Fprintf(w, "owner\t%s\n", printable.Quoted(h.Owner))
		}
	}
	switch {
	case s.Slots > 0:
		printSlots(w, s, unsure)
	case unsure:
		fmt.Fprintf(w, "%s\tnot known, because too few nodes %s\n", printable.Quoted(s.Name), lacking(s.Nodes))
	case !s.Held && slotsHeld > 0:
		fmt.Fprintf(w, "%s\tfree as a lock; of the semaphore with this name %s held\n", printable.Quoted(s.Name), slotsAre(slotsHeld))
	case !s.Held:
		fmt.Fprintf(w, "%s\tfree\n", printable.Quoted(s.Name))
	case s.Readers > 0:
		printReaders(w, s)
	case h.Offered:
		fmt.Fprintf(w, "%s\toffered to %s, the first in line, who has not taken it yet\n", printable.Quoted(s.Name), h)
		owner()
		fmt.Fprintf(w, "until\t%s\n", expiry(h.Until))
	default:
		how := ""
		if h.Left {
			how = " (ended; --at-least keeps it taken)"
		}
		fmt.Fprintf(w, "%s\theld by %s%s\n", printable.Quoted(s.Name), h, how)
		owner()
		if !h.Foreign {
			fmt.Fprintf(w, "since\t%s (%s)\n", moment(h.Since), forPeople(time.Since(h.Since)))
			fmt.Fprintf(w, "fence\t%d\n", h.Fence)
		}
		fmt.Fprintf(w, "until\t%s\n", expiry(h.Until))
	}
	for _, last := range jobs {
		printLastRun(w, last)
	}
	fmt.Fprintln(w)
	for _, n := range s.Nodes {
		view := nodeView(n, s)
		if s.Slots > 0 && n.Err == nil && n.Reason != verdict.ReasonFreeNoVote {
			view = "answered"
		}
		fmt.Fprintf(w, "%s\t%s\n", n.Place(), view)
	}
	return printed(w.Flush())
}

// slotsAre returns "1 slot is" or a number of slots, which may be higher than slotsOfHint.
func slotsAre(n int) string {
	switch n {
	case 1:
		return "1 slot is"
	case slotsOfHint:
		return fmt.Sprintf("at least %d slots are", n)
	}
	return fmt.Sprintf("%d slots are", n)
}

// lacking returns the verb for a message that too few nodes did something: vote or answered.
func lacking(nodes []verdict.Answer) string {
	for _, n := range nodes {
		if n.Reason == verdict.ReasonFreeNoVote {
			return "vote"
		}
	}
	return "answered"
}

// printSlots prints the holders of the slots of a semaphore. unsure means that some holders may be missing, because
// too few nodes answered or vote.
func printSlots(w io.Writer, s *holdfast.Status, unsure bool) {
	held := fmt.Sprintf("%d of %d slots held", len(s.Holders), s.Slots)
	if unsure {
		held = fmt.Sprintf("not known, because too few nodes %s; at least %s", lacking(s.Nodes), held)
	}
	fmt.Fprintf(w, "%s\t%s\n", printable.Quoted(s.Name), held)
	for _, h := range s.Holders {
		what := fmt.Sprintf("held by %s, fence %d, until %s", h, h.Fence, expiry(h.Until))
		if h.Offered {
			what = fmt.Sprintf("offered to %s, until %s", h, expiry(h.Until))
		}
		fmt.Fprintf(w, "slot %d\t%s\n", h.Slot, what)
	}
}

// mostReaders is the largest number of readers that status prints as text. The JSON output contains more.
const mostReaders = 10

// printReaders prints the first readers of a lock.
func printReaders(w io.Writer, s *holdfast.Status) {
	readers := "1 reader"
	if s.Readers > 1 {
		readers = fmt.Sprintf("%d readers", s.Readers)
	}
	fmt.Fprintf(w, "%s\theld by %s\n", printable.Quoted(s.Name), readers)
	shown := s.Holders[:min(len(s.Holders), mostReaders)]
	for _, h := range shown {
		how := ""
		switch {
		case h.Offered:
			fmt.Fprintf(w, "offered\t%s, until %s\n", h, expiry(h.Until))
			continue
		case h.Left:
			how = " (ended; --at-least keeps it taken)"
		}
		fmt.Fprintf(w, "reader\t%s%s, fence %d, until %s\n", h, how, h.Fence, expiry(h.Until))
	}
	if n := s.Readers - len(shown); n > 0 {
		fmt.Fprintf(w, "reader\t%d more\n", n)
	}
}

// printed adds to a write error that it happened while the output was printed.
func printed(err error) error {
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

func nodeView(n verdict.Answer, s *holdfast.Status) string {
	switch {
	case n.Reason == verdict.ReasonCorrupt:
		return n.Said()
	case n.Err != nil:
		return "no answer: " + reason(n.Err)
	case !n.Held():
		return n.Said()
	case n.Readers == 1:
		return "1 reader, until " + expiry(n.Until)
	case n.Readers > 1:
		return fmt.Sprintf("%d readers, the last until %s", n.Readers, expiry(n.Until))
	case n.Reason == verdict.ReasonOffered:
		return "offered to " + holder(n.Owner, false) + ", until " + expiry(n.Until)
	case n.Owner == s.Holder().Owner && n.Fence == s.Holder().Fence:
		return "held, until " + expiry(n.Until)
	}
	return "held by " + holder(n.Owner, n.Foreign) + ", until " + expiry(n.Until)
}

func holder(owner string, foreign bool) string {
	return verdict.Holder{Owner: owner, Foreign: foreign}.String()
}

// moment returns a time with milliseconds in the time zone of this machine, which it names.
func moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05.000 MST") }

// toSecond returns a time without milliseconds in the time zone of this machine, which it names. It returns "" for the zero
// time.
func toSecond(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
}

func expiry(t time.Time) string {
	if t.IsZero() {
		return "it is deleted: it has no expiry"
	}
	return fmt.Sprintf("%s (in %s)", moment(t), forPeople(time.Until(t)))
}
