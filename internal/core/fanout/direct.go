package fanout

import (
	"context"

	"github.com/holdfast-go/holdfast/node"
)

// Calls outside the queues of messages also need places among the MaxCalls calls to a node. A call to a node that hangs
// keeps its place until its timeout, which may be as long as MaxTTL. So the numbers of these calls are limited, too.
const (
	mostReports   = 8  // reports of members; further reports leave the node out
	mostQuestions = 12 // questions of callers, such as Status; further questions wait
	otherDirect   = 8  // places for a greeting, a refresh, and readings of the clock
)

// A driver allows MaxCalls calls at a time. The spares, the workers and a carrier need one each. This line does not
// compile if MaxCalls is too small.
const _ = uint(node.MaxCalls - mostSpares - workersOfOne - 1 - mostReports - mostQuestions - otherDirect)

// asker sends the questions of callers to one node, outside the queue.
type asker struct {
	node  node.Node
	slots chan struct{} // contains a value for each question under way
}

func newAsker(n node.Node) asker { return asker{n, make(chan struct{}, mostQuestions)} }

// Eval runs a script on the node. It waits if mostQuestions questions are under way.
func (a asker) Eval(ctx context.Context, text string, c node.Call) node.Reply {
	return a.ask(ctx, func() node.Reply { return a.node.Eval(ctx, text, c) })
}

// ask makes a call when fewer than mostQuestions questions are under way. It makes no call if ctx ends before that.
func (a asker) ask(ctx context.Context, call func() node.Reply) node.Reply {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
		return call()
	case <-ctx.Done():
		return node.Reply{Err: node.NotSent(ctx.Err())}
	}
}
