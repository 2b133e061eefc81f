package rueidisnode

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// builder begins each command with its method Arbitrary. The typed methods of rueidis would compute a hash of each
// key for Redis Cluster. Call Arbitrary directly: a call through a variable would allocate memory for its arguments.
var builder rueidis.Builder

// batch contains the commands of one call, and memory that rueidis needs for them. The pool batches reuses it.
type batch struct {
	commands []rueidis.Completed
	lone     [1]rueidis.RedisResult
}

var batches = sync.Pool{New: func() any { return new(batch) }}

func newBatch() *batch { return batches.Get().(*batch) }

func (b *batch) add(c rueidis.Completed) { b.commands = append(b.commands, c) }

// recycle gives the batch back. The caller must not use the batch or its results any more.
func (b *batch) recycle() {
	clear(b.commands)
	b.commands, b.lone[0] = b.commands[:0], rueidis.RedisResult{}
	batches.Put(b)
}

// EvalSHA implements [node.Node].
func (n *Node) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if len(calls) == 0 {
		return nil
	}
	replies := make([]node.Reply, len(calls))
	var begun *driver.Reign
	if n.masters != nil {
		begun = n.masters.Begun()
	}
	if n.shard.RefusesAll(calls, replies) {
		return replies
	}
	l, err := n.take(ctx)
	sent, into := calls, replies
	if err == nil && n.masters != nil {
		if err = n.masters.Confirm(ctx, n.naming, l.reign); err == nil {
			// The order matters: if the shard gets another master after Sift, its reign has ended before Admits.
			if sent, into = n.shard.Sift(calls, replies); len(sent) > 0 && !n.masters.Admits(l.reign, begun) {
				err = driver.NotMet.Err
			}
		}
		if err != nil || len(sent) == 0 {
			n.pool.put(l)
		}
	}
	if err != nil {
		n.shard.Fail(calls, replies, err)
		return replies
	}
	if len(sent) > 0 {
		n.evalSHA(ctx, l, sent, into)
		driver.Place(replies, into)
	}
	return replies
}

// evalSHA sends calls on a link, and puts it back.
func (n *Node) evalSHA(ctx context.Context, l *link, calls []node.Call, replies []node.Reply) {
	b := newBatch()
	defer b.recycle()
	for i := range calls {
		c := &calls[i]
		b.add(builder.Arbitrary("EVALSHA", c.SHA, strconv.Itoa(len(c.Keys))).Args(c.Keys...).Args(c.Args...).Build())
	}
	confirms := n.confirms(calls)
	if confirms {
		b.add(builder.Arbitrary(driver.WaitCommand(n.target.replication)...).Build())
	}
	results := l.run(ctx, b)
	late := l.late(results[0])
	n.pool.put(l)
	for i := range replies {
		if replies[i] = n.reply(ctx, results[i]); late {
			replies[i].Err = node.ErrLate
		}
		n.noted(l, replies[i])
	}
	if confirms {
		driver.Confirm(n.target.replication, calls, replies, n.reply(ctx, results[len(calls)]))
	}
}

// Eval implements [node.Node]. Both pipelines use one link, which has a single connection. So the loads cannot reach
// another server: see [errDown].
func (n *Node) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	l, err := n.take(ctx)
	if err != nil {
		return node.Reply{Err: err}
	}
	defer n.pool.put(l)
	if call.Epoch && n.shard != nil { // an admission at a server that no majority names yet would count too early
		if err := n.masters.Confirm(ctx, n.naming, l.reign); err != nil {
			return node.Reply{Err: err}
		}
	}
	b := newBatch()
	defer b.recycle()
	eval := builder.Arbitrary("EVAL", text, strconv.Itoa(len(call.Keys))).Args(call.Keys...).Args(call.Args...)
	if call.Epoch && n.masters != nil {
		eval = eval.Args(n.masters.Epoch(l.reign)...)
	}
	b.add(eval.Build())
	greets := n.masters != nil && n.masters.Refused(l.reign)
	result := l.run(ctx, b)[0]
	answer := n.reply(ctx, result)
	if l.late(result) {
		answer.Err = node.ErrLate
	}
	if n.noted(l, answer); greets && answer.Err == nil {
		n.masters.Greeted(l.reign)
	}
	if answer.Err != nil || len(load) == 0 {
		return answer
	}
	if ctx.Err() != nil {
		return node.Reply{Err: driver.ContextError(ctx)}
	}
	loads := newBatch()
	defer loads.recycle()
	for _, text := range load {
		loads.add(builder.Arbitrary("SCRIPT", "LOAD", text).Build())
	}
	for i, result := range l.run(ctx, loads) {
		if r := n.reply(ctx, result); r.Err != nil {
			return node.Reply{Err: driver.Part(1+i, r.Err)}
		}
	}
	return answer
}

// Setting implements [node.Configured].
func (n *Node) Setting(ctx context.Context, name string) node.Reply {
	b := newBatch()
	defer b.recycle()
	b.add(builder.Arbitrary("CONFIG", "GET", name).Build())
	results, err := n.send(ctx, b)
	if err != nil {
		return node.Reply{Err: err}
	}
	if results[0].Error() != nil {
		return n.reply(ctx, results[0])
	}
	all, err := results[0].AsStrMap()
	return node.Reply{Value: all[name], Err: err}
}

// Do implements [node.Commander].
func (n *Node) Do(ctx context.Context, command ...string) node.Reply {
	b := newBatch()
	defer b.recycle()
	b.add(builder.Arbitrary(command...).Build())
	results, err := n.send(ctx, b)
	if err != nil {
		return node.Reply{Err: err}
	}
	return n.reply(ctx, results[0])
}

// send runs the commands in one pipeline. An error means that none of them was sent.
func (n *Node) send(ctx context.Context, b *batch) ([]rueidis.RedisResult, error) {
	l, err := n.take(ctx)
	if err != nil {
		return nil, err
	}
	results := l.run(ctx, b)
	n.pool.put(l)
	return results, nil
}

// take returns a link. The caller must give it back with pool.put. An error means that nothing was sent.
func (n *Node) take(ctx context.Context) (*link, error) {
	if n.closed() {
		return nil, node.ErrClosed
	}
	switch ctx.Err() {
	case nil:
		return n.pool.take(ctx)
	case context.DeadlineExceeded:
		return nil, node.ErrLate
	}
	return nil, node.NotSent(driver.ContextError(ctx))
}

// reply reads the answer to one command.
func (n *Node) reply(ctx context.Context, r rueidis.RedisResult) node.Reply {
	err := r.NonRedisError()
	if err == nil {
		m, _ := r.ToMessage()
		return message(&m)
	}
	if end := driver.Ended(ctx, err); end != nil {
		return node.Reply{Err: end}
	}
	if n.closed() {
		// This is not ErrClosed: ErrClosed means that the call was not executed, and this call may have been.
		return node.Reply{Err: fmt.Errorf("closed during the call: %w", err)}
	}
	return node.Reply{Err: fmt.Errorf("connection lost: %w", err)}
}

func message(m *rueidis.RedisMessage) node.Reply {
	if m.IsString() { // status replies are strings, too
		s, _ := m.ToString()
		return node.Reply{Value: s}
	}
	if i, err := m.ToInt64(); err == nil {
		return node.Reply{Value: strconv.FormatInt(i, 10)}
	}
	if m.IsNil() {
		return node.Reply{}
	}
	// For an error reply, ToString returns the whole text. The method Error would remove a leading "ERR ".
	if text, err := m.ToString(); err != nil && text != "" {
		return node.Reply{Err: node.ServerError(text)}
	}
	return node.Reply{Err: driver.ErrReplyType}
}

// serverError adds the "ERR " that rueidis removed from the text of an error reply. rueidis removes it from the
// replies to HELLO, AUTH and SELECT on a new connection.
func serverError(err error) *node.Error {
	text := err.Error()
	if code, _, _ := strings.Cut(text, " "); len(code) < 4 || strings.ToUpper(code) != code {
		text = "ERR " + text
	}
	return node.ServerError(text)
}
