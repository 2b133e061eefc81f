package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/doctor"
	"github.com/holdfast-go/holdfast/internal/core/rights"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func (a *app) doctor() *cobra.Command {
	var asJSON, all bool
	var only checkList
	var older duration
	var rate int
	var roles roleList
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what is wrong with the nodes, and say what to type",
		Long: `doctor examines each node, the set, and the names on it. Each finding has a check,
a node, a state, and the fix to type below it. The states are ok, note (nothing is wrong),
warn (something may slow or break the locks) and bad (a node cannot do its work, or
a promise does not hold). With --all, --only and --json it also shows what is ok, and
findings whose cause another finding has. Give it the settings of your clients.

The checks are: ` + inLines(doctor.Checks, 17, 78) + `.

doctor exits with 0 if nothing is worse than a note, with 1 if a finding is warn,
and with 2 if one is bad. It changes nothing, but it asks for votes as holdfast
nodes does. It does not ask a node that was never used, because such a node keeps
the settings of its first client. This exception is not for a Redis Cluster.
doctor reads all names, as holdfast list --free does.

It needs the rights of the role operator (holdfast acl --role operator). Without some
of them it says "not known". The check acl looks for the rights of a client that takes
locks, unless --role names another role. For a user with the rights of an operator
only, it prints a note without --role.`,
		Args:    none,
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("rate") && rate < 10 {
				return usage(fmt.Errorf("--rate is %d requests per second; it must be at least 10", rate), "")
			}
			c := doctor.Config{Role: rights.Role(roles), Only: only, OlderThan: 24 * time.Hour, Rate: rate}
			if older.given {
				c.OlderThan = older.value
			}
			return a.examine(cmd.OutOrStdout(), c, asJSON, all || len(only) > 0)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&all, "all", false, "show the checks without a finding, too")
	f.Var(&only, "only", "only these checks, separated by commas")
	f.Var(&older, "older-than", "a lock that is held for longer is stuck (default 24h)")
	f.IntVar(&rate, "rate", 0, "most requests per second to each node (default 500)")
	f.Var(&roles, "role", "the role of holdfast acl whose rights the user must have (default locker)")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(cobraWords(rights.Roles), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("only", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return doctor.Checks, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// inLines joins words with commas. It breaks lines so that no line is longer than width. The first line begins at
// column.
func inLines(words []string, column, width int) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(',')
			if column++; column+1+len(w) > width {
				b.WriteByte('\n')
				column = 0
			} else {
				b.WriteByte(' ')
				column++
			}
		}
		b.WriteString(w)
		column += len(w)
	}
	return b.String()
}

// checkList is a flag that contains names of checks.
type checkList []string

func (l *checkList) String() string { return strings.Join(*l, ",") }

func (*checkList) Type() string { return "checks" }

func (l *checkList) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(doctor.Checks, name) {
			return errors.New("want some of " + strings.Join(doctor.Checks, ", "))
		}
		*l = append(*l, name)
	}
	return nil
}

// examine runs the checks and prints the findings, or all results.
func (a *app) examine(out io.Writer, c doctor.Config, asJSON, all bool) error {
	return a.withNodes(func(client *holdfast.Client) error {
		urls := a.settings.urls()
		nodes, err := rueidisnode.Open(urls...)
		if err != nil {
			return err
		}
		defer closeAll(nodes)
		c.Client, c.URLs, c.Nodes = client, urls, nodes
		count := len(urls)
		if of, is := nodes[0].(node.Cluster); is {
			c.Cluster, count = of, 0
			c.Open = func(url string) (node.Node, error) { return rueidisnode.New(url) }
			c.Guest = func(url string) (node.Node, error) { return rueidisnode.New(withoutUser(url)) }
		}
		c.MaxTTL, c.Window, c.Durable = a.maxTTL(), a.settings.windowOrDefault(), a.settings.durable
		c.Anonymous = make([]node.Node, len(urls))
		defer closeAll(c.Anonymous)
		for i, u := range urls {
			if n, err := rueidisnode.New(withoutUser(u)); err == nil && c.Cluster == nil {
				c.Anonymous[i] = n
			}
		}
		findings := doctor.Examine(context.Background(), c)
		if err := show(out, asJSON, findingsJSON(findings), func() error { return printFindings(out, findings, count, all) }); err != nil {
			return err
		}
		switch doctor.Worst(findings) {
		case doctor.Bad:
			return exit(exitBad)
		case doctor.Warn:
			return exit(exitWarn)
		}
		return nil
	})
}

func closeAll(nodes []node.Node) {
	for _, n := range nodes {
		if n != nil {
			n.Close()
		}
	}
}

// withoutUser returns a URL without user and password.
func withoutUser(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User = nil
	u.RawQuery = strings.ReplaceAll(u.RawQuery, "+", "%2B") // a + stands for itself: see rueidisnode
	query := u.Query()
	query.Del("user")
	query.Del("password")
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return u.String()
}

type doctorJSON struct {
	Worst    string        `json:"worst"`
	Findings []findingJSON `json:"findings"`
}

type findingJSON struct {
	Check    string  `json:"check"`
	Node     *string `json:"node"`     // null: the whole set
	Severity string  `json:"severity"` // ok, note, warn or bad
	State    string  `json:"state"`    // in words, which may change
	Fix      *string `json:"fix"`
}

func findingsJSON(all []doctor.Finding) doctorJSON {
	j := doctorJSON{Worst: doctor.Worst(all).String(), Findings: []findingJSON{}}
	for _, f := range all {
		j.Findings = append(j.Findings, findingJSON{f.Check, text(f.Node), f.Severity.String(), f.State, text(f.Fix)})
	}
	return j
}
