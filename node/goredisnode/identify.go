package goredisnode

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/node"
)

var _ node.Identified = (*redisNode)(nil)

// Identify implements [node.Identified]. The connection has a client of its own, because go-redis does not say which
// connection a call gets.
func (n *redisNode) Identify(ctx context.Context) (node.Identity, error) {
	type answer struct {
		id  node.Identity
		err error
	}
	a, err := run(ctx, n, func(within context.Context) answer {
		var conn atomic.Pointer[net.Conn]
		_, reign := n.now()
		o := n.optionsFor(reign, func(c net.Conn) { conn.Store(&c) })
		o.PoolSize = 1
		client := redis.NewClient(o)
		defer func() { _ = client.Close() }() // an error only means that the client was closed before
		var said error
		if err := client.Do(within, "PING").Err(); err != nil {
			said = n.fault(ctx, err)
		}
		if c := conn.Load(); c != nil && node.Code(said) != node.ReadOnly {
			if id, err := (*c).(interface{ Identity() (node.Identity, error) }).Identity(); id.Run != "" {
				return answer{id, err}
			}
		}
		if node.Code(said) == node.NoPerm { // the user may not use PING
			said = nil
		}
		return answer{err: said}
	})
	if err == nil {
		err = a.err
	}
	return n.site.History(a.id), err
}
