package fanout

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// Force ends a lease for an operator: see [nodescript.ForceCall]. It returns the answer of each node. A node does not
// have to vote for that.
func (f *Fanout) Force(ctx context.Context, c nodescript.Call) []nodescript.Answer {
	text, answers := nodescript.ForceText(f.config.Set, c.Op), make([]nodescript.Answer, f.N())
	f.survey(ctx, func(ctx context.Context, i int, n *asker) {
		answers[i] = nodescript.ParseReply(c.Op, n.Eval(ctx, text, node.Call{Keys: c.Keys, Args: c.Args}))
	})
	return answers
}
