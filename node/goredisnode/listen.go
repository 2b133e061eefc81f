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

// pingAfter is how long a subscription may be silent before it is pinged, and then
// again before it is taken for dead.
const pingAfter = time.Second

// Listen implements [node.Node]. A message without text is not passed on.
func (n *redisNode) Listen(ctx context.Context, channel string, on func(message string)) error {
	if n.closed() {
		return node.ErrClosed
	}
	if ctx.Err() != nil {
		return node.NotSent(driver.ContextError(ctx))
	}
	return driver.Feed(ctx, on, func(ctx context.Context, emit func(string)) error {
		l := &line{}
		ctx = context.WithValue(ctx, lineKey{}, l)
		// No channel yet: this one does not tell errors.
		ps := n.client.WithTimeout(ioTimeout).Subscribe(ctx)
		// Closing is what interrupts a read.
		hangUp := func() {
			l.drop()
			_ = ps.Close()
		}
		defer hangUp()
		defer context.AfterFunc(ctx, hangUp)()
		defer context.AfterFunc(n.ctx, hangUp)()
		err := ps.Subscribe(ctx, channel)
		if err == nil {
			err = receive(ctx, ps, emit)
		}
		if n.closed() {
			return node.ErrClosed
		}
		return n.fault(ctx, err)
	})
}

// receive ends with the first connection: a PubSub would go on with another, and its
// listener would never know that messages were lost in between.
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

// next is the next message. go-redis panics where one is not made as it expects.
func next(ctx context.Context, ps *redis.PubSub) (m any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("unreadable message: %v; is this Redis or Valkey?", r)
		}
	}()
	return ps.ReceiveTimeout(ctx, pingAfter)
}

// line is the connection of a subscription. go-redis waits for a handshake before it closes one, and leaves
// the connection open where the handshake failed (v9.22).
type line struct {
	mu      sync.Mutex
	conn    net.Conn
	dropped bool
}

type lineKey struct{} // of a *line in the context of a dial

// takes notes the connection that was made for a subscription.
func (l *line) takes(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn = c; l.dropped {
		_ = c.Close() // says only that it was closed before, as below
	}
}

func (l *line) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dropped = true; l.conn != nil {
		_ = l.conn.Close()
	}
}
