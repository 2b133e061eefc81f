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

// command starts a command. The typed builders hash every key for Redis Cluster.
var command = rueidis.Builder{}.Arbitrary

// batches recycles the slices of commands, but only those of answered batches: a
// connection may still read one that was given up.
var batches = sync.Pool{New: func() any { return new([]rueidis.Completed) }}

// EvalSHA implements [node.Node].
func (n *Node) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if len(calls) == 0 {
		return nil
	}
	batch := batches.Get().(*[]rueidis.Completed)
	commands := (*batch)[:0]
	for i := range calls {
		c := &calls[i]
		commands = append(commands, command("EVALSHA", c.SHA, strconv.Itoa(len(c.Keys))).Args(c.Keys...).Args(c.Args...).Build())
	}
	replies := make([]node.Reply, len(calls))
	results, err := n.send(ctx, commands)
	if err != nil {
		for i := range replies {
			replies[i].Err = err
		}
		return replies
	}
	answered := true
	for i := range results {
		answered = answered && results[i].NonRedisError() == nil
		replies[i] = n.reply(ctx, results[i])
	}
	if answered {
		clear(commands)
		*batch = commands
		batches.Put(batch)
	}
	return replies
}

// Eval implements [node.Node].
func (n *Node) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	eval := command("EVAL", text, strconv.Itoa(len(call.Keys))).Args(call.Keys...).Args(call.Args...).Build()
	if len(load) == 0 {
		results, err := n.send(ctx, []rueidis.Completed{eval})
		if err != nil {
			return node.Reply{Err: err}
		}
		return n.reply(ctx, results[0])
	}
	commands := make([]rueidis.Completed, 0, len(load)+3)
	commands = append(commands, command("MULTI").Build(), eval)
	for _, l := range load {
		commands = append(commands, command("SCRIPT", "LOAD", l).Build())
	}
	commands = append(commands, command("EXEC").Build())
	results, err := n.send(ctx, commands)
	if err != nil {
		return node.Reply{Err: err}
	}
	// A command refused when it was queued says why; EXEC then only says that
	// something was refused.
	for i, r := range results[:len(results)-1] {
		if reply := n.reply(ctx, r); reply.Err != nil {
			return node.Reply{Err: driver.Part(i-1, reply.Err)}
		}
	}
	parts, err := results[len(results)-1].ToArray()
	if err != nil {
		return n.reply(ctx, results[len(results)-1])
	}
	if len(parts) != len(load)+1 {
		return node.Reply{Err: fmt.Errorf("EXEC answered %d replies, want %d", len(parts), len(load)+1)}
	}
	for i := range parts {
		if reply := message(&parts[i]); reply.Err != nil {
			return node.Reply{Err: driver.Part(i, reply.Err)}
		}
	}
	return message(&parts[0])
}

// send runs the commands in one pipeline, on a new connection if there is none. The
// error is that of all of them: nothing was sent.
func (n *Node) send(ctx context.Context, commands []rueidis.Completed) ([]rueidis.RedisResult, error) {
	if n.closed() {
		return nil, node.ErrClosed
	}
	if ctx.Err() != nil {
		return nil, node.NotSent(driver.ContextError(ctx))
	}
	select {
	case n.slots <- struct{}{}:
		defer func() { <-n.slots }()
	case <-ctx.Done():
		return nil, node.NotSent(driver.ContextError(ctx))
	}
	for {
		l, err := n.connected(ctx)
		if err != nil {
			return nil, err
		}
		results := l.client.DoMulti(ctx, commands...)
		switch err := results[0].NonRedisError(); {
		case err == nil:
			l.late.Store(0)
		case err == errDown: // rueidis hands a dialer's error through as it is
			l.broken.Store(true)
			continue
		case ctx.Err() != nil && l.late.Add(1) >= maxLate:
			l.drop()
		}
		return results, nil
	}
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
		// Not ErrClosed: that would say the call was not executed.
		return node.Reply{Err: fmt.Errorf("closed during the call: %w", err)}
	}
	return node.Reply{Err: fmt.Errorf("connection lost: %w", err)}
}

func message(m *rueidis.RedisMessage) node.Reply {
	if m.IsString() { // also status replies
		s, _ := m.ToString()
		return node.Reply{Value: s}
	}
	if i, err := m.ToInt64(); err == nil {
		return node.Reply{Value: strconv.FormatInt(i, 10)}
	}
	if m.IsNil() {
		return node.Reply{}
	}
	// Of an error reply ToString gives the whole text; Error has lost a leading "ERR ".
	if text, err := m.ToString(); err != nil && text != "" {
		return node.Reply{Err: node.ServerError(text)}
	}
	return node.Reply{Err: driver.ErrReplyType}
}

// serverError restores the text of an error reply that reached us without its leading
// "ERR ": the one to HELLO, AUTH or SELECT on a new connection.
func serverError(err error) *node.Error {
	text := err.Error()
	if code, _, _ := strings.Cut(text, " "); len(code) < 4 || strings.ToUpper(code) != code {
		text = "ERR " + text
	}
	return node.ServerError(text)
}
