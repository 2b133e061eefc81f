package redisson

import (
	"context"

	"github.com/holdfast-go/holdfast/node"
)

// said is the answer of one node.
type said struct {
	node int
	answer
}

// ask sends a call to each node at the same time. The channel gets one answer per node, and has room for all of them.
// A node has [Config.NodeTimeout] for its answer. The calls do not end with the caller's context: an acquire that was
// given up half-way would leave a lock behind.
func (c *Client) ask(s script, call func(node int) node.Call) <-chan said {
	answers := make(chan said, len(c.config.Nodes))
	for i := range c.config.Nodes {
		c.background(func() {
			answers <- said{i, c.askOne(i, s, call(i))}
		})
	}
	return answers
}

// askOne runs a script on one node. A node that does not know it gets its text. This package does not use NOSCRIPT to
// find restarts: Redisson grants on a restarted node at once, so a quarantine of ours would protect nobody.
func (c *Client) askOne(i int, s script, call node.Call) answer {
	ctx, cancel := context.WithTimeout(context.Background(), c.config.NodeTimeout)
	defer cancel()
	r := c.config.Nodes[i].EvalSHA(ctx, []node.Call{call})[0]
	if node.Code(r.Err) == node.NoScript {
		r = c.config.Nodes[i].Eval(ctx, s.text, call, s.text)
	}
	return parse(r)
}

// texts returns the answers for people, each with its node's address.
func (c *Client) texts(answers []answer) []string {
	out := make([]string, len(answers))
	for i, a := range answers {
		out[i] = c.config.Nodes[i].Addr() + ": " + a.String()
	}
	return out
}
