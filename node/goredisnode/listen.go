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

// pingAfter is the time after which the node sends a ping on a silent subscription. If the ping is not answered
// within the same time, the subscription counts as broken.
const pingAfter = time.Second

// Listen implements [node.Node]. It ignores messages without text.
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
		// Call Subscribe without a channel, because Subscribe does not report errors. The function subscribe does.
		client, reign := n.now()
		ps := client.WithTimeout(ioTimeout).Subscribe(ctx)
		// A read ends only when its connection is closed.
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

// receive returns when the first connection breaks. A PubSub would continue on a new connection, and its listener
// would not know that it has missed messages.
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
			if m.Kind != "subscribe" && m.Kind != "ssubscribe" { // the hash slot of a sharded channel has moved
				return fmt.Errorf("the server ended the subscription (%s)", m.Kind)
			}
			emit("")
		case *redis.Message:
			if m.Payload != "" {
				emit(m.Payload)
			}
		}
	}
}

// next returns the next message. It recovers a panic of go-redis, which panics if a message does not have the
// expected form.
func next(ctx context.Context, ps *redis.PubSub) (m any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("unreadable message: %v; is this Redis or Valkey?", r)
		}
	}()
	return ps.ReceiveTimeout(ctx, pingAfter)
}

// line is the connection of a subscription. The node closes this connection itself, because go-redis closes it only
// after the handshake. If the handshake failed, go-redis leaves the connection open (v9.22).
type line struct {
	mu      sync.Mutex
	conn    net.Conn
	dropped bool
}

type lineKey struct{} // the key of a *line in the context of a dial

// takes stores the connection of a subscription. If the subscription has already ended, it closes the connection.
func (l *line) takes(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn = c; l.dropped {
		_ = c.Close() // here and below, an error only means that the connection was already closed
	}
}

func (l *line) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dropped = true; l.conn != nil {
		_ = l.conn.Close()
	}
}
