package goredisnode

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// pingAfter is the time for which a subscription may be silent. After that time the node sends a ping. After the same
// time without an answer the subscription counts as dead.
const pingAfter = time.Second

// Listen implements [node.Node]. It drops a message without text.
func (n *redisNode) Listen(ctx context.Context, channel string, on func(message string)) error {
	return n.listen(ctx, on, func(ctx context.Context, ps *redis.PubSub) error { return ps.Subscribe(ctx, channel) })
}

// ListenShard implements [node.Sharded]. It does the same as Listen with SSUBSCRIBE.
func (n *redisNode) ListenShard(ctx context.Context, channel string, on func(message string)) error {
	return n.listen(ctx, on, func(ctx context.Context, ps *redis.PubSub) error { return ps.SSubscribe(ctx, channel) })
}

func (n *redisNode) listen(ctx context.Context, on func(message string), subscribe func(context.Context, *redis.PubSub) error) error {
	if n.closed() {
		return node.ErrClosed
	}
	if ctx.Err() != nil {
		return node.NotSent(driver.ContextError(ctx))
	}
	return driver.Feed(ctx, on, func(ctx context.Context, emit func(string)) error {
		l := &line{}
		ctx = context.WithValue(ctx, lineKey{}, l)
		// This Subscribe gets no channel, because it does not report errors.
		client, reign := n.now()
		ps := client.WithTimeout(ioTimeout).Subscribe(ctx)
		// Only a close of the connection interrupts a read.
		hangUp := func() {
			l.drop()
			_ = ps.Close()
		}
		defer hangUp()
		defer context.AfterFunc(ctx, hangUp)()
		lives := n.ctx
		if reign != nil {
			lives = reign.Context
		}
		defer context.AfterFunc(lives, hangUp)()
		err := subscribe(ctx, ps)
		if err == nil {
			err = receive(ctx, ps, emit)
		}
		if n.closed() {
			return node.ErrClosed
		}
		return n.fault(ctx, err)
	})
}

// receive ends with the first connection. A PubSub would continue with another connection, and its listener would not
// learn that messages were lost in between.
func receive(ctx context.Context, ps *redis.PubSub, emit func(string)) error {
	pinged := false
	for {
		m, err := next(ctx, ps)
		switch {
		case err == nil:
			pinged = false
		case !node.Timeout(err) || ctx.Err() != nil:
			return err
		case pinged:
			return fmt.Errorf("a ping was not answered: %w", err)
		default:
			if err := ps.Ping(ctx); err != nil {
				return err
			}
			pinged = true
		}
		switch m := m.(type) {
		case *redis.Subscription:
			emit("")
		case *redis.Message:
			if m.Payload != "" {
				emit(m.Payload)
			}
		}
	}
}

// next returns the next message. go-redis panics if a message does not have the expected form.
func next(ctx context.Context, ps *redis.PubSub) (m any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("unreadable message: %v; is this Redis or Valkey?", r)
		}
	}()
	return ps.ReceiveTimeout(ctx, pingAfter)
}

// line is the connection of a subscription. The node closes the connection itself, because go-redis waits for a
// handshake before it closes a connection. If the handshake failed, go-redis leaves the connection open (v9.22).
type line struct {
	mu      sync.Mutex
	conn    net.Conn
	dropped bool
}

type lineKey struct{} // the key of a *line in the context of a dial

// takes notes the connection of a subscription.
func (l *line) takes(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn = c; l.dropped {
		_ = c.Close() // here and below, an error only says that the connection was closed before
	}
}

func (l *line) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dropped = true; l.conn != nil {
		_ = l.conn.Close()
	}
}
