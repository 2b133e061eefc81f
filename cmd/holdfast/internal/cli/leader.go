package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/internal/core/printable"
)

const leaderHelp = `leader shows who leads the election NAME: the machine, the number of the term, since
when, and the value that the leader published. A leader that died is shown until
its leadership ends on the nodes, which is after its --ttl.

With --watch, leader prints a line for the present leader and for each change,
until INT or TERM, after which it exits with 0. It asks the nodes once a second. A
vacancy of more than a second is always shown.

leader exits with 75 if nobody leads, and with 69 if too few nodes answered. With
--json the output is one document, and with --json --watch one document for each
line.`

func (a *app) leader() *cobra.Command {
	var asJSON, watch bool
	cmd := &cobra.Command{
		Use:     "leader NAME",
		Short:   "Show the leader of an election",
		Long:    leaderHelp,
		Example: "  holdfast leader db-writer\n  holdfast leader --watch --json db-writer",
		Args:    one("name"),
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withNodes(func(client *holdfast.Client) error {
				e := election.New(client, args[0])
				if watch {
					return a.watchLeader(cmd.OutOrStdout(), e, asJSON)
				}
				return a.showLeader(cmd.OutOrStdout(), e, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&watch, "watch", false, "print each change, until INT or TERM")
	return cmd
}

func (a *app) showLeader(out io.Writer, e *election.Election, asJSON bool) error {
	l, err := e.Leader(context.Background())
	if err != nil && !errors.Is(err, election.ErrNoLeader) {
		var un *holdfast.UnavailableError
		if errors.As(err, &un) {
			return &failure{code: exitUnavailable, err: err, hint: a.settings.unavailableHint(un)}
		}
		return usage(inFlags(err), "")
	}
	if e := show(out, asJSON, leaderOf(e.Name(), election.News{Leader: l}), func() error { return printLeader(out, e.Name(), l) }); e != nil {
		return e
	}
	if err != nil {
		return exit(exitHeld)
	}
	return nil
}

func printLeader(out io.Writer, name string, l election.Leader) error {
	if l.Term == 0 {
		_, err := fmt.Fprintf(out, "%s   nobody leads\n", printable.Quoted(name))
		return printed(err)
	}
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "%s\tled by %s\n", printable.Quoted(name), printable.Quoted(l.String()))
	fmt.Fprintf(w, "term\t%d\n", l.Term)
	fmt.Fprintf(w, "since\t%s (%s)\n", moment(l.Since), forPeople(time.Since(l.Since)))
	fmt.Fprintf(w, "until\t%s\n", expiry(l.Until))
	if l.Value != nil {
		fmt.Fprintf(w, "value\t%s\n", printable.Quoted(string(l.Value)))
	}
	return printed(w.Flush())
}

// watchLeader prints each change of the leader until a signal comes. Then it waits for a second at most, because the
// output may be blocked.
func (a *app) watchLeader(out io.Writer, e *election.Election, asJSON bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a.endsBy(os.Interrupt, syscall.SIGTERM)
	watched := make(chan error, 1)
	go func() { watched <- a.printChanges(ctx, out, e, asJSON) }()
	select {
	case err := <-watched:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-watched:
		return err
	case <-time.After(time.Second): // nobody reads the output, so a write may last for ever
		return nil
	}
}

// printChanges prints each change of the leader until ctx ends.
func (a *app) printChanges(ctx context.Context, out io.Writer, e *election.Election, asJSON bool) error {
	hinted := false
	for news := range e.Observe(ctx) {
		var un *holdfast.UnavailableError
		if news.Err != nil && !errors.As(news.Err, &un) {
			return usage(inFlags(news.Err), "")
		}
		var err error
		if asJSON {
			err = printJSONLine(out, leaderOf(e.Name(), news))
		} else {
			_, err = fmt.Fprintf(out, "%s   %s\n", toSecond(time.Now()), inWords(news))
			err = printed(err)
		}
		if err != nil {
			return err
		}
		if un == nil {
			continue
		}
		if hint := a.settings.defaultHint(un.Nodes); hint != "" && !hinted {
			hinted = true
			a.note("hint: %s", hint)
		}
	}
	return nil
}

// inWords returns news of an election as text for people.
func inWords(news election.News) string {
	switch {
	case news.Err != nil:
		return "not known: " + shown(trimmed(news.Err))
	case news.Vacant():
		return "nobody leads"
	}
	said := fmt.Sprintf("led by %s, term %d", printable.Quoted(news.String()), news.Term)
	if news.Value != nil {
		said += ", value " + printable.Quoted(string(news.Value))
	}
	return said
}

type leaderJSON struct {
	Name        string  `json:"name"`        // each byte that is not UTF-8 is U+FFFD here
	NameQuoted  string  `json:"name_quoted"` // as a Go string in ASCII, which is different for any two names
	Vacant      *bool   `json:"vacant"`      // if too few nodes answered, this and all fields below are null
	Leader      *string `json:"leader"`
	Owner       *string `json:"owner"`
	Term        *int64  `json:"term"`
	Since       *string `json:"since"`
	Until       *string `json:"until"`
	Value       *string `json:"value"` // null if no value was published in this term
	ValueQuoted *string `json:"value_quoted"`
	Error       *string `json:"error"`
}

func leaderOf(name string, news election.News) leaderJSON {
	j := leaderJSON{Name: name, NameQuoted: strconv.QuoteToASCII(name)}
	if news.Err != nil {
		j.Error = text(trimmed(news.Err))
		return j
	}
	vacant := news.Vacant()
	if j.Vacant = &vacant; vacant {
		return j
	}
	j.Leader, j.Owner, j.Term, j.Since, j.Until = text(news.String()), text(news.Owner), number(news.Term), instant(news.Since), instant(news.Until)
	if news.Value != nil {
		value, quoted := string(news.Value), strconv.QuoteToASCII(string(news.Value))
		j.Value, j.ValueQuoted = &value, &quoted
	}
	return j
}
