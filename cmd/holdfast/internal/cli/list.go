package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/printable"
)

func (a *app) list() *cobra.Command {
	var asJSON bool
	var o admin.ListOptions
	var older duration
	kind := kindFlag{&o.Kind}
	cmd := &cobra.Command{
		Use:   "list [PATTERN]",
		Short: "List all locks, their holders and waiters",
		Long: `list shows every lock that somebody has or waits for: its kind, its holder, since
when and until when, the number of waiters and the time that the first of them
has waited, and the fencing token. Each slot of a semaphore has a line of its own.
PATTERN selects names: * matches any text, ? any byte, [abc] one of these bytes,
and \ takes the special meaning from the next byte. Quote it for the shell.

A lock is held if a majority of the nodes names the same holder. Where nodes that
vote name different ones, the last column says what each node says. An election
whose leader has published nothing is shown as a lock.

list reads the keys of one node after the other by SCAN, never by KEYS. It sends
small requests, at most --rate per second to each node. It needs the same memory
for any number of names. It prints lines as it finds them, sorted only in groups.
It has every lock that is held from its beginning to its end. It changes no lock.

With --json it prints one JSON document per line. It exits with 69 if too few
nodes answered.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(fmt.Errorf("list needs one pattern or none, but was given %d", len(args)), "quote the pattern: holdfast list 'order/*'")
			}
			return nil
		},
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Pattern = args[0]
			}
			o.OlderThan = older.value
			if cmd.Flags().Changed("rate") && o.Rate == 0 { // for 0, the library would use its default
				return usage(errors.New("--rate is 0 requests per second; it must be at least 10"), "")
			}
			return a.withNodes(func(client *holdfast.Client) error { return a.showList(cmd.OutOrStdout(), client, o, asJSON) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Var(kind, "kind", "only locks of this kind: lock, shared, semaphore, election or job")
	f.Var(&older, "older-than", "only locks whose holder has them for longer than this")
	f.BoolVar(&o.Waiting, "waiting", false, "only locks for which somebody waits")
	f.BoolVar(&o.Free, "free", false, "also names that nobody has; nodes remember them for two hours")
	f.IntVar(&o.Rate, "rate", 0, "most requests per second to each node (default 500)")
	f.BoolVar(&asJSON, "json", false, "print JSON, a document per line")
	_ = cmd.RegisterFlagCompletionFunc("kind", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return kinds, cobra.ShellCompDirectiveNoFileComp
	})
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// kindFlag is a flag that contains a kind of locks.
type kindFlag struct{ kind *admin.Kind }

var kinds = []string{
	string(admin.KindLock), string(admin.KindShared), string(admin.KindSemaphore), string(admin.KindElection), string(admin.KindJob),
}

func (k kindFlag) String() string {
	if k.kind == nil {
		return ""
	}
	return string(*k.kind)
}

func (kindFlag) Type() string { return "kind" }

func (k kindFlag) Set(text string) error {
	if !slices.Contains(kinds, text) {
		return errors.New("want " + strings.Join(kinds[:len(kinds)-1], ", ") + " or " + kinds[len(kinds)-1])
	}
	*k.kind = admin.Kind(text)
	return nil
}

// A list is printed in groups of lines. The width of the columns is known only when all lines of a group are known.
const (
	groupLines = 200
	groupTime  = time.Second
)

func (a *app) showList(out io.Writer, client *holdfast.Client, o admin.ListOptions, asJSON bool) error {
	var group []*admin.NameStatus
	printed, began := false, time.Now()
	flush := func() error {
		if asJSON || len(group) == 0 && printed {
			return nil
		}
		err := printList(out, group, !printed)
		group, printed, began = group[:0], true, time.Now()
		return err
	}
	for s, err := range admin.List(context.Background(), client, o) {
		switch {
		case err != nil:
			if len(group) > 0 {
				if e := flush(); e != nil && printed {
					return e
				}
			}
			var un *holdfast.UnavailableError
			if errors.As(err, &un) {
				return &failure{code: exitUnavailable, err: err, hint: a.settings.unavailableHint(un)}
			}
			return usage(inFlags(err), "")
		case asJSON:
			if err := printJSONLine(out, itemJSON(s)); err != nil {
				return err
			}
			continue
		}
		if group = append(group, s); len(group) == groupLines || time.Since(began) > groupTime {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func printList(out io.Writer, group []*admin.NameStatus, first bool) error {
	slices.SortFunc(group, func(a, b *admin.NameStatus) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Slot, b.Slot))
	})
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	if first {
		fmt.Fprintln(w, "NAME\tKIND\tHOLDER\tSINCE\tUNTIL\tWAITERS\tFENCE\tNODES")
	}
	for _, s := range group {
		h := s.Holder()
		name, since, fence, until := printable.Quoted(s.Name), "", "", ""
		if s.Slot >= 0 {
			name += fmt.Sprintf(" slot %d", s.Slot)
		}
		if s.Known && s.Held {
			if !h.Since.IsZero() {
				since, fence = toSecond(h.Since), fmt.Sprint(h.Fence)
			}
			if until = "never"; !h.Until.IsZero() {
				until = "in " + forPeople(time.Until(h.Until))
			}
		}
		waiters := fmt.Sprint(s.Waiters)
		if s.Waiters > 0 {
			waiters += fmt.Sprintf(" (%s)", forPeople(time.Since(s.WaitingSince)))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", name, s.Kind, whoHas(s), since, until, waiters, fence, where(s))
	}
	return printed(w.Flush())
}

// whoHas returns the holders of an item as text.
func whoHas(s *admin.NameStatus) string {
	h := s.Holder()
	switch {
	case !s.Known:
		return "not known"
	case !s.Held:
		return "nobody"
	case h.Offered:
		return "offered to " + h.String()
	case s.Readers > 1:
		return fmt.Sprintf("%s and %d more", h, s.Readers-1)
	case h.Left:
		return h.String() + " (ended)"
	}
	return h.String()
}

// where returns the nodes' answers if they differ or if the holder is unknown. Otherwise it returns the shard of a Redis
// Cluster that has the name, with its present master, and "" without a cluster.
func where(s *admin.NameStatus) string {
	if !s.Differ && s.Known {
		if n := s.Nodes[0]; n.Master != "" {
			return shardOnly(n.Node) + " " + n.Master
		}
		return ""
	}
	var all []string
	for _, n := range s.Nodes {
		all = append(all, n.String())
	}
	return shown(strings.Join(all, "; "))
}

type itemOfJSON struct {
	Kind         string  `json:"kind"`
	Slot         *int    `json:"slot"` // the slot of a semaphore, else null
	Waiters      int     `json:"waiters"`
	WaitingSince *string `json:"waiting_since"` // when the first waiter came
	Differ       bool    `json:"differ"`        // nodes that vote name different holders
	lockJSON
}

func itemJSON(s *admin.NameStatus) itemOfJSON {
	j := itemOfJSON{
		Kind: string(s.Kind), Waiters: s.Waiters, WaitingSince: instant(s.WaitingSince), Differ: s.Differ, lockJSON: statusJSON(&s.Status, s.Known),
	}
	if s.Slot >= 0 {
		j.Slot = &s.Slot
	}
	return j
}
