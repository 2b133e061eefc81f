package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/verdict"
)

func (a *app) nodes() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "nodes",
		Short: "Show the state of each node",
		Long: `nodes shows for each node whether it answers and whether it votes. For a
quarantine it shows the end and the reason. It also shows how far the node's
clock is from the clocks of the majority, and the version of the server. It
exits with 69 if too few nodes vote for a lock.

The first request to a new node starts its quarantine. That may be the request
of this command.`,
		Args:    none,
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withNodes(func(client *holdfast.Client) error {
				return a.showNodes(cmd.OutOrStdout(), admin.Nodes(context.Background(), client), asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(a.trust())
	return cmd
}

// withNodes calls f with a client that logs nothing that the command prints itself.
func (a *app) withNodes(f func(*holdfast.Client) error) error {
	client, err := a.settings.open(a.talker, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	a.hold()
	return f(client)
}

func (a *app) showNodes(out io.Writer, list []verdict.Answer, asJSON bool) error {
	if err := show(out, asJSON, standingJSON(list), func() error { return printNodes(out, list) }); err != nil {
		return err
	}
	return a.quorumOf(list)
}

// nodesHint returns the next step for a person, from the answers of all nodes. See unavailableHint.
func (s *settings) nodesHint(list []verdict.Answer) string {
	return s.unavailableHint(&holdfast.UnavailableError{Nodes: list})
}

func voting(list []verdict.Answer) (n int) {
	for _, s := range list {
		if s.Votes() {
			n++
		}
	}
	return n
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
