package goredisnode

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
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
		if id, ok := n.ask(within); ok {
			return answer{id: id}
		}
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

// Met implements [node.Identified]. A connection that leads to a replica proves nothing, so there is nothing to tell if
// the master may change.
func (n *redisNode) Met() node.Identity {
	if n.masters != nil {
		return node.Identity{}
	}
	return n.site.Met()
}

// ask does what Identify does, with a server that only answers and a client without hooks. If ok is false, go-redis
// must find out more.
func (n *redisNode) ask(ctx context.Context) (id node.Identity, ok bool) {
	began := n.site.Now()
	c, auth, ok := n.bare(ctx)
	if !ok {
		return id, false
	}
	id, err := n.site.Ask(ctx, c, began, auth...)
	return id, err == nil
}

// Local implements [node.Local].
func (n *redisNode) Local(ctx context.Context) string {
	if !driver.LoopbackAddr(n.options.Addr) {
		return ""
	}
	id, _ := run(ctx, n, func(within context.Context) string { // an error means that nothing is known

		c, auth, ok := n.bare(within)
		if !ok {
			return ""
		}
		return driver.Local(within, c, n.options.Addr, auth...)
	})
	return id
}

// bare dials without a client, and returns the arguments of AUTH. ok is false if only a client can.
func (n *redisNode) bare(ctx context.Context) (c net.Conn, auth []string, ok bool) {
	o := &n.options
	if n.masters != nil || o.Dialer == nil || o.OnConnect != nil || o.CredentialsProvider != nil ||
		o.CredentialsProviderContext != nil || o.StreamingCredentialsProvider != nil {
		return nil, nil, false
	}
	c, err := o.Dialer(ctx, o.Network, o.Addr)
	if err != nil {
		return nil, nil, false
	}
	switch {
	case o.Username != "" && o.Password != "":
		auth = []string{o.Username, o.Password}
	case o.Password != "":
		auth = []string{o.Password}
	}
	return driver.Prompt(c), auth, true
}
