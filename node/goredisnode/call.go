package goredisnode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// EvalSHA implements [node.Node].
//
// In a cluster it asks for the master and the hash slots before it has a connection. That is early enough: the time
// until the call is sent is a part of what the lease has already used, because its stamp is older.
func (n *redisNode) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if len(calls) == 0 {
		return nil
	}
	replies := make([]node.Reply, len(calls))
	fail := func(err error) []node.Reply {
		n.shard.Fail(calls, replies, err)
		return replies
	}
	if err := n.over(ctx); err != nil {
		return fail(err)
	}
	if n.shard.RefusesAll(calls, replies) {
		return replies
	}
	client, reign := n.now()
	if n.naming != nil {
		if err := n.masters.Confirm(ctx, n.naming, reign); err != nil {
			return fail(err)
		}
	}
	// The order matters: if the shard gets another master after Sift, its reign has ended before Admits.
	sent, into := n.shard.Sift(calls, replies)
	switch {
	case len(sent) == 0:
		return replies
	case n.masters != nil && !n.masters.Admits(reign, reign):
		return fail(driver.NotMet.Err)
	}
	commands := make([]*redis.Cmd, len(sent), len(sent)+1)
	for i := range sent {
		commands[i] = script(ctx, "evalsha", sent[i].SHA, &sent[i])
	}
	confirms := n.confirms(sent)
	if confirms {
		var wait []any
		for _, word := range driver.WaitCommand(n.replication) {
			wait = append(wait, word)
		}
		commands = append(commands, redis.NewCmd(ctx, wait...))
	}
	got, err := run(ctx, n, func(within context.Context) []node.Reply {
		return n.pipe(ctx, within, client, commands)
	})
	if err != nil {
		got = all(len(commands), err)
	}
	n.noted(reign, got...)
	copy(into, got)
	if confirms && err == nil {
		driver.Confirm(n.replication, sent, into, got[len(sent)])
	}
	driver.Place(replies, into)
	return replies
}

// all returns this number of replies, all with the same error.
func all(calls int, err error) []node.Reply {
	replies := make([]node.Reply, calls)
	for i := range replies {
		replies[i].Err = err
	}
	return replies
}

// Eval implements [node.Node]. It uses a [redis.Conn], which has a single connection. If that connection breaks, a
// Conn does not make another one, so the loads cannot reach a restarted server.
func (n *redisNode) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	client, reign := n.now()
	if call.Epoch && n.naming != nil { // what the arguments say is known on a connection only
		if err := n.over(ctx); err != nil {
			return node.Reply{Err: err}
		}
		met, err := run(ctx, n, func(within context.Context) error { return n.meet(within, client, reign) })
		if err = cmp.Or(err, met); err != nil {
			return node.Reply{Err: node.NotSent(err)}
		}
	}
	if call.Epoch && n.shard != nil { // an admission at a server that no majority names yet would count too early
		if err := n.masters.Confirm(ctx, n.naming, reign); err != nil {
			return node.Reply{Err: err}
		}
	}
	if call.Epoch && n.masters != nil {
		call.Args = append(slices.Clip(call.Args), n.masters.Epoch(reign)...)
	}
	commands := make([]*redis.Cmd, 0, 1+len(load))
	commands = append(commands, script(ctx, "eval", text, &call))
	for _, l := range load {
		commands = append(commands, redis.NewCmd(ctx, "script", "load", l))
	}
	greets := n.masters != nil && n.masters.Refused(reign)
	reply, err := run(ctx, n, func(within context.Context) node.Reply {
		if len(load) == 0 {
			return n.pipe(ctx, within, client, commands)[0]
		}
		conn := client.Conn()
		defer func() { _ = conn.Close() }() // an error only means that the connection was already closed
		return n.evalThenLoad(ctx, within, conn, commands)
	})
	if err != nil {
		return node.Reply{Err: err}
	}
	if n.noted(reign, reply); greets && reply.Err == nil {
		n.masters.Greeted(reign)
	}
	return reply
}

// evalThenLoad sends the first command. If its answer is not an error, it then sends the other commands.
func (n *redisNode) evalThenLoad(ctx, within context.Context, conn *redis.Conn, commands []*redis.Cmd) node.Reply {
	answer := n.pipe(ctx, within, conn, commands[:1])[0]
	if answer.Err != nil {
		return answer
	}
	if ctx.Err() != nil {
		return node.Reply{Err: driver.ContextError(ctx)}
	}
	for i, r := range n.pipe(ctx, within, conn, commands[1:]) {
		if r.Err != nil {
			return node.Reply{Err: driver.Part(1+i, r.Err)}
		}
	}
	return answer
}

// Setting implements [node.Configured].
func (n *redisNode) Setting(ctx context.Context, name string) node.Reply {
	c := redis.NewCmd(ctx, "config", "get", name)
	client, _ := n.now()
	reply, err := run(ctx, n, func(within context.Context) (r node.Reply) {
		if r.Err = n.exec(ctx, within, client, []*redis.Cmd{c}); r.Err != nil {
			return r
		}
		v, err := c.Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return node.Reply{Err: n.fault(ctx, err)}
		}
		switch all := v.(type) {
		case map[any]any:
			r.Value, _ = all[name].(string)
		case []any: // RESP2
			if len(all) == 2 {
				r.Value, _ = all[1].(string)
			}
		}
		return r
	})
	if err != nil {
		return node.Reply{Err: err}
	}
	return reply
}

// Do implements [node.Commander].
func (n *redisNode) Do(ctx context.Context, command ...string) node.Reply {
	args := make([]any, len(command))
	for i, a := range command {
		args[i] = a
	}
	c := redis.NewCmd(ctx, args...)
	client, _ := n.now()
	reply, err := run(ctx, n, func(within context.Context) node.Reply {
		return n.pipe(ctx, within, client, []*redis.Cmd{c})[0]
	})
	if err != nil {
		return node.Reply{Err: err}
	}
	return reply
}

// script makes one command. Pointers to strings save go-redis an allocation for each argument. script copies the
// strings: after a call was given up, go-redis may still read them, while the caller already changes its own.
func script(ctx context.Context, name, body string, c *node.Call) *redis.Cmd {
	text := make([]string, 0, 1+len(c.Keys)+len(c.Args))
	text = append(append(append(text, body), c.Keys...), c.Args...)
	args := make([]any, 0, 2+len(text))
	args = append(args, name, &text[0], len(c.Keys))
	for i := range text[1:] {
		args = append(args, &text[1+i])
	}
	return redis.NewCmd(ctx, args...)
}

// pipeliner is a client, or a single connection of a client.
type pipeliner interface{ Pipeline() redis.Pipeliner }

// pipe sends the commands in one pipeline, and returns one reply per command. ctx is the context of the call, and
// within is the longer context for go-redis: see within.
func (n *redisNode) pipe(ctx, within context.Context, on pipeliner, commands []*redis.Cmd) []node.Reply {
	if err := n.exec(ctx, within, on, commands); err != nil {
		return all(len(commands), err)
	}
	replies := make([]node.Reply, len(commands))
	for i, c := range commands {
		switch v, err := c.Result(); {
		case errors.Is(err, redis.Nil):
		case err != nil:
			replies[i].Err = n.fault(ctx, err)
		default:
			replies[i] = value(v)
		}
	}
	return replies
}

// exec sends the commands in one pipeline. Its error applies to all of them.
func (n *redisNode) exec(ctx, within context.Context, on pipeliner, commands []*redis.Cmd) error {
	pipe := on.Pipeline()
	for _, c := range commands {
		_ = pipe.Process(within, c)
	}
	_, err := pipe.Exec(within)
	return n.unattributed(ctx, commands, err)
}

// run runs f for a call, and returns when ctx ends at the latest. After an error f may still run, so the caller must
// not use the data of f.
func run[T any](ctx context.Context, n *redisNode, f func(within context.Context) T) (result T, err error) {
	if err := n.over(ctx); err != nil {
		return result, err
	}
	// f needs its own goroutine: go-redis obeys the deadline of a context, but does not notice its cancellation while
	// it dials, does the handshake, writes or reads.
	end := make(chan T, 1)
	within, done := n.within(ctx)
	go func() { // this goroutine ends when within ends
		defer done()
		end <- f(within)
	}()
	select {
	case <-ctx.Done():
		select {
		case result = <-end: // both have come
			return result, nil
		default:
			return result, driver.ContextError(ctx)
		}
	case result = <-end:
		return result, nil
	}
}

// over returns the error of a call that cannot begin any more.
func (n *redisNode) over(ctx context.Context) error {
	if n.closed() {
		return node.ErrClosed
	}
	switch ctx.Err() {
	case nil:
		return nil
	case context.DeadlineExceeded:
		return node.ErrLate
	}
	return node.NotSent(driver.ContextError(ctx))
}

// within returns the context that go-redis gets for a call. It ends later than the caller's context, for this reason.
// When a deadline passes, go-redis closes the connection, and the next call must first open a new one within its own
// time. If the network is too slow for that, no call and no release would ever be sent again. So the connection waits
// for a late answer, for lateAnswer at most. Only half of the pool may wait in this way, so that a hung server does
// not block the other half.
func (n *redisNode) within(ctx context.Context) (within context.Context, done func()) {
	end, ok := ctx.Deadline()
	if !ok {
		end = time.Now().Add(ioTimeout)
	}
	if n.waiting.Add(1) <= poolSize/2 {
		end = end.Add(lateAnswer)
	}
	within, cancel := context.WithDeadline(n.ctx, end)
	return within, func() {
		cancel()
		n.waiting.Add(-1)
	}
}

// unattributed returns the error of a pipeline if go-redis has stored it in none of the commands. This happens if the
// server refused a new connection, for example because of a wrong password. Without this check, the commands would
// look like successes without an answer.
func (n *redisNode) unattributed(ctx context.Context, commands []*redis.Cmd, err error) error {
	if err == nil {
		return nil
	}
	for _, c := range commands {
		if c.Err() != nil {
			return nil
		}
	}
	return n.fault(ctx, err)
}

// fault makes an error of package node from an error of go-redis.
func (n *redisNode) fault(ctx context.Context, err error) error {
	var known *node.Error
	if errors.As(err, &known) {
		return known
	}
	var refused redis.Error
	if errors.As(err, &refused) {
		return node.ServerError(refused.Error())
	}
	if end := driver.Ended(ctx, err); end != nil {
		return end
	}
	var dial *net.OpError
	switch {
	case errors.Is(err, driver.ErrChanged):
		return node.NotSent(driver.ErrChanged)
	case errors.Is(err, redis.ErrClosed) && n.masters != nil && !n.closed(): // the client of an ended reign
		return fmt.Errorf("connection lost: %w", driver.ErrChanged)
	case errors.Is(err, redis.ErrClosed):
		return node.ErrClosed
	case errors.As(err, &dial) && dial.Op == "dial", errors.Is(err, redis.ErrPoolTimeout):
		return node.NotSent(fmt.Errorf("connect: %w", err))
	case n.closed():
		// This is not ErrClosed: ErrClosed means that the call was not executed, and this call may have been.
		return fmt.Errorf("closed during the call: %w", err)
	}
	return fmt.Errorf("connection lost: %w", err)
}

func value(v any) node.Reply {
	switch v := v.(type) {
	case nil:
		return node.Reply{}
	case string:
		return node.Reply{Value: v}
	case int64:
		return node.Reply{Value: strconv.FormatInt(v, 10)}
	case error:
		if errors.Is(v, redis.Nil) {
			return node.Reply{}
		}
		return node.Reply{Err: node.ServerError(v.Error())}
	}
	return node.Reply{Err: driver.ErrReplyType}
}
