package goredisnode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// EvalSHA implements [node.Node].
func (n *redisNode) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if len(calls) == 0 {
		return nil
	}
	commands := make([]*redis.Cmd, len(calls))
	for i := range calls {
		commands[i] = script(ctx, "evalsha", calls[i].SHA, &calls[i])
	}
	return n.send(ctx, commands)
}

// Eval implements [node.Node].
func (n *redisNode) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	eval := script(ctx, "eval", text, &call)
	if len(load) == 0 {
		return n.send(ctx, []*redis.Cmd{eval})[0]
	}
	// Not go-redis's TxPipeline: it hides why a command was refused when queued.
	commands := make([]*redis.Cmd, 0, len(load)+3)
	commands = append(commands, redis.NewCmd(ctx, "multi"), eval)
	for _, l := range load {
		commands = append(commands, redis.NewCmd(ctx, "script", "load", l))
	}
	exec := redis.NewCmd(ctx, "exec")
	if err := n.run(ctx, append(commands, exec)); err != nil {
		return node.Reply{Err: err}
	}
	for i, c := range commands {
		if err := c.Err(); err != nil {
			return node.Reply{Err: driver.Part(i-1, n.fault(ctx, err))}
		}
	}
	if err := exec.Err(); err != nil {
		// EXEC has the first error among its parts as its own as well.
		if parts, ok := exec.Val().([]any); !ok || len(parts) == 0 {
			return node.Reply{Err: n.fault(ctx, err)}
		}
	}
	parts, _ := exec.Val().([]any)
	if len(parts) != len(load)+1 {
		return node.Reply{Err: fmt.Errorf("EXEC answered %d replies, want %d", len(parts), len(load)+1)}
	}
	for i, p := range parts {
		if r := value(p); r.Err != nil {
			return node.Reply{Err: driver.Part(i, r.Err)}
		}
	}
	return value(parts[0])
}

// script makes one command. go-redis takes pointers to strings, which saves an
// allocation for each argument; the strings are copied, because a call that was given
// up may be read after its caller has gone on.
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

func (n *redisNode) send(ctx context.Context, commands []*redis.Cmd) []node.Reply {
	replies := make([]node.Reply, len(commands))
	if err := n.run(ctx, commands); err != nil {
		for i := range replies {
			replies[i].Err = err
		}
		return replies
	}
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

// run sends the commands in one pipeline. If it returns an error, that is the error
// of every command, and the commands must not be touched: they may still be in use.
func (n *redisNode) run(ctx context.Context, commands []*redis.Cmd) error {
	if n.closed() {
		return node.ErrClosed
	}
	if ctx.Err() != nil {
		return node.NotSent(driver.ContextError(ctx))
	}
	pipe := n.client.Pipeline()
	for _, c := range commands {
		_ = pipe.Process(ctx, c)
	}
	// A goroutine, because go-redis takes a deadline over from ctx but does not
	// notice a cancellation while it dials, handshakes, writes or reads. It ends
	// with the deadline, or after ioTimeout.
	end := make(chan error, 1)
	go func() {
		_, err := pipe.Exec(ctx)
		end <- err
	}()
	select {
	case <-ctx.Done():
		n.reconnect()
		return driver.ContextError(ctx)
	case err := <-end:
		if ctx.Err() != nil {
			n.reconnect()
		}
		return n.unattributed(ctx, commands, err)
	}
}

// reconnect makes a connection in the background, one at a time. go-redis drops the
// connection of a call that was given up and makes the next one within the next call,
// whose time may be too short for a handshake: on a network that has become slow no
// release would ever be sent again.
func (n *redisNode) reconnect() {
	if n.connecting.Swap(true) {
		return
	}
	go func() { // ends with n.ctx or after connectTimeout
		defer n.connecting.Store(false)
		ctx, cancel := context.WithTimeout(n.ctx, connectTimeout)
		defer cancel()
		_ = n.client.Ping(ctx).Err() // the next call will say what is wrong
	}()
}

// unattributed finds the error of a pipeline that go-redis has not written to its
// commands. It forgets to where a new connection was refused by the server (a wrong
// password): the commands look like successes that answered nothing.
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

// fault turns an error of go-redis into one of package node.
func (n *redisNode) fault(ctx context.Context, err error) error {
	var refused redis.Error
	if errors.As(err, &refused) {
		return node.ServerError(refused.Error())
	}
	if end := driver.Ended(ctx, err); end != nil {
		return end
	}
	var dial *net.OpError
	switch {
	case errors.Is(err, redis.ErrClosed):
		return node.ErrClosed
	case errors.As(err, &dial) && dial.Op == "dial", errors.Is(err, redis.ErrPoolTimeout):
		return node.NotSent(fmt.Errorf("connect: %w", err))
	case n.closed():
		// Not ErrClosed: that would say the call was not executed.
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
