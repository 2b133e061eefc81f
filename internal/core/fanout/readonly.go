package fanout

import (
	"context"
	"strconv"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// These calls ask one node directly, outside the queues. They only read.

// Scan returns some keys that match a pattern, and the next cursor: "0" at the end.
func (f *Fanout) Scan(ctx context.Context, i int, cursor, pattern string, count int) (keys []string, next string, err error) {
	return nodescript.ParseScan(f.readOnly(ctx, i, nodescript.ScanText(), nodescript.ScanCall(cursor, pattern, count)))
}

// Have reports for each key whether a node has it.
func (f *Fanout) Have(ctx context.Context, i int, keys []string) ([]bool, error) {
	return nodescript.ParseHave(f.readOnly(ctx, i, nodescript.HaveText(), nodescript.HaveCall(keys)), len(keys))
}

// Look returns a node's records of some locks, and the id of the node's memory. errs contains an error for each
// lock whose keys are corrupt.
func (f *Fanout) Look(ctx context.Context, i int, list []nodescript.Listed) (all []nodescript.Glance, errs []error, memory string, err error) {
	if f.config.Shard == nil || len(list) < 2 {
		return nodescript.ParseLook(f.readOnly(ctx, i, nodescript.LookText(), nodescript.LookCall(list)), len(list))
	}
	for _, one := range list { // their keys belong to several hash slots
		g, e, m, err := f.Look(ctx, i, []nodescript.Listed{one})
		if err != nil {
			return nil, nil, "", err
		}
		all, errs, memory = append(all, g...), append(errs, e...), m
	}
	return all, errs, memory, nil
}

// readOnly runs a script that only reads. If the driver can send EVAL_RO, the server also refuses writes of the
// script.
func (f *Fanout) readOnly(ctx context.Context, i int, text string, c node.Call) node.Reply {
	n := f.askers[i]
	text, c = f.sharded(text, c)
	commander, can := n.node.(node.Commander)
	if !can {
		return n.Eval(ctx, text, c)
	}
	command := make([]string, 0, 3+len(c.Keys)+len(c.Args))
	command = append(append(append(command, "EVAL_RO", text, strconv.Itoa(len(c.Keys))), c.Keys...), c.Args...)
	return n.ask(ctx, func(ctx context.Context) node.Reply { return commander.Do(ctx, command...) })
}
