package redisson

import (
	"context"

	"github.com/holdfast-go/holdfast/compat/internal/client"
	"github.com/holdfast-go/holdfast/node"
)

// said is the answer of one node.
type said struct {
	node int
	answer
}

// ask sends a call to all nodes at the same time. The channel gets one answer per node, and has room for all of them.
// A node must answer within [Config.NodeTimeout]. The calls go on when the caller's context ends. Otherwise an
// acquire could be executed by a node although nobody reads its answer, and its lock would stay.
func (c *Client) ask(s client.Script, call func(node int) node.Call) <-chan said {
	answers := make(chan said, len(c.config.Nodes))
	for i := range c.config.Nodes {
		c.tasks.Go(func() {
			answers <- said{i, c.askOne(i, s, call(i))}
		})
	}
	return answers
}

// askOne runs a script on one node.
func (c *Client) askOne(i int, s client.Script, call node.Call) answer {
	ctx, cancel := context.WithTimeout(context.Background(), c.config.NodeTimeout)
	defer cancel()
	return parse(s.Run(ctx, c.config.Nodes[i], call))
}

// texts returns the answers in words, each with the address of its node.
func (c *Client) texts(answers []answer) []string {
	out := make([]string, len(answers))
	for i, a := range answers {
		out[i] = c.config.Nodes[i].Addr() + ": " + a.String()
	}
	return out
}
