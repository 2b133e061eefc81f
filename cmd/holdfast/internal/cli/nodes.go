package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/node"
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

For a Redis Cluster it shows each shard: its present master, the number of its hash
slots and of its replicas that work, and how far its clock is from that of the middle
shard. It exits with 69 if a shard does not vote, because only that shard can lock
the names of its hash slots.

The first request to a new node starts its quarantine. That may be the request
of this command.`,
		Args:    none,
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withNodes(func(client *holdfast.Client) error {
				list := admin.Nodes(context.Background(), client)
				return a.showNodes(cmd.OutOrStdout(), list, a.settings.topology(), asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(a.trust())
	return cmd
}

// withNodes calls f with a client that logs nothing that the command prints itself.
func (a *app) withNodes(f func(*holdfast.Client) error) error { return a.withObserved(nil, f) }

// withObserved does the same as withNodes, and the metrics of end observe the client.
func (a *app) withObserved(end *endpoint, f func(*holdfast.Client) error) error {
	client, err := a.settings.open(a.talker, end.observe)
	if err != nil {
		return err
	}
	defer client.Close()
	a.hold()
	return f(client)
}

func (a *app) showNodes(out io.Writer, list []verdict.Answer, t *node.Topology, asJSON bool) error {
	if err := show(out, asJSON, standingJSON(list, t), func() error { return printNodes(out, list, t) }); err != nil {
		return err
	}
	return a.quorumOf(list)
}

// topology returns the shards of the Redis Cluster of the last client, nil if there is none or they are not known.
func (s *settings) topology() *node.Topology {
	if s.shards == nil {
		return nil
	}
	return s.shards.Topology()
}

// shardOf returns the shard with the address of a node, nil if there is none.
func shardOf(t *node.Topology, addr string) *node.Shard {
	if t == nil {
		return nil
	}
	for _, s := range t.Shards {
		if s.Node.Addr() == addr {
			return s
		}
	}
	return nil
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
