package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
)

func (a *app) trust() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Vouch that no lock is alive on these nodes",
		Long: `trust is an operator's word that no lock can be alive on these nodes, for
instance because they are new. A node that restarted or was emptied does not
vote until every lock it may have forgotten is over: --max-ttl + --window. One
that is vouched for votes after two windows. trust waits for that.

Given wrongly, two owners can hold the same lock.

On a terminal it asks first, unless --yes is given. In a script it does not.`,
		Args:    none,
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withNodes(func(client *holdfast.Client) error {
				return a.vouch(cmd.OutOrStdout(), client, yes || !term.IsTerminal(os.Stdin.Fd()))
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// vouch vouches for the nodes that do not vote.
func (a *app) vouch(out io.Writer, client *holdfast.Client, sure bool) error {
	ctx := context.Background()
	waiting := map[string]bool{}
	for _, n := range client.Nodes(ctx) {
		if n.Reachable && !n.Admitted {
			waiting[n.Node] = true
			a.note("node %s", n)
		}
	}
	if len(waiting) == 0 {
		list := client.Nodes(ctx)
		fmt.Fprintf(out, "no node waits to be vouched for; %d of %d vote\n", voting(list), len(list))
		return a.quorumOf(list)
	}
	if !sure && !confirmed(a.talker, len(waiting)) {
		return &failure{code: exitUsage, err: fmt.Errorf("nothing was vouched for")}
	}
	list := client.Trust(ctx)
	var longest time.Duration
	for _, n := range list {
		if !waiting[n.Node] {
			continue
		}
		switch {
		case n.VotesIn > 0:
			fmt.Fprintf(out, "vouched for %s, incarnation %s: votes in %s\n", n.Node, n.RunID, forPeople(n.VotesIn))
			longest = max(longest, n.VotesIn)
			continue
		case n.Admitted:
			fmt.Fprintf(out, "vouched for %s, incarnation %s: votes\n", n.Node, n.RunID)
		default:
			fmt.Fprintf(out, "%s does not vote: %s\n", n.Node, n.Reason)
		}
		delete(waiting, n.Node)
	}
	// So that what comes next in a script finds them voting.
	for end := time.Now().Add(longest + patience); len(waiting) > 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
		list = client.Nodes(ctx)
		for _, n := range list {
			if n.Admitted {
				delete(waiting, n.Node)
			}
		}
	}
	fmt.Fprintf(out, "%d of %d nodes vote\n", voting(list), len(list))
	return a.quorumOf(list)
}

// quorumOf is the failure of a node set on which no lock can be taken.
func (a *app) quorumOf(list []holdfast.NodeStatus) error {
	need := len(list)/2 + 1
	if n := voting(list); n < need {
		return &failure{
			code: exitUnavailable, err: fmt.Errorf("%d of %d nodes vote; a lock needs %d", n, len(list), need),
			hint: a.settings.nodesHint(list),
		}
	}
	return nil
}

func confirmed(t *talker, n int) bool {
	t.mu.Lock()
	fmt.Fprintf(t.out, "holdfast: is it certain that no lock is alive on these %d nodes? [y/N] ", n)
	t.mu.Unlock()
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}
