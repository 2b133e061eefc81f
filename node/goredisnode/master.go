package goredisnode

import (
	"context"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// This file follows the master of a node that is declared replicated. Each reign has its own go-redis client, because
// go-redis does not say which connection a call gets.

var _ node.Replicated = (*redisNode)(nil)

// Replication implements [node.Replicated].
func (n *redisNode) Replication() node.Replication { return n.replication }

// newClient makes the client of a reign.
func (n *redisNode) newClient(reign *driver.Reign) *redis.Client {
	return redis.NewClient(n.optionsFor(reign, nil))
}

// optionsFor returns the options of a client of a reign. dialled gets each new connection; it may be nil.
func (n *redisNode) optionsFor(reign *driver.Reign, dialled func(net.Conn)) *redis.Options {
	o := n.options
	n.adapt(&o, dialled)
	// The Sentinels may name another master between the beginning of the reign and this dial.
	if dial := o.Dialer; reign != nil && n.options.Addr == failover && dial != nil {
		o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dial(ctx, network, addr)
			if err == nil && n.masters.At(driver.Named{Addr: c.RemoteAddr().String()}) != reign {
				_ = c.Close()
				return nil, node.NotSent(driver.ErrChanged)
			}
			return c, err
		}
	}
	if dial := o.Dialer; n.naming != nil {
		o.Dialer = func(ctx context.Context, network, _ string) (net.Conn, error) {
			at := ""
			err := n.naming.Master(ctx, func(m driver.Named) {
				if n.masters.At(m) == reign {
					at = m.Addr
				}
			})
			switch {
			case err != nil:
				return nil, node.NotSent(err)
			case at == "":
				return nil, node.NotSent(driver.ErrChanged)
			}
			return dial(ctx, network, at)
		}
	}
	if reign != nil {
		first := o.OnConnect
		o.OnConnect = func(ctx context.Context, c *redis.Conn) error {
			if first != nil {
				if err := first(ctx, c); err != nil {
					return err
				}
			}
			return n.meet(ctx, c, reign)
		}
	}
	return &o
}

// now returns the client of the present reign. It closes the client of an earlier reign, and so its connections.
func (n *redisNode) now() (*redis.Client, *driver.Reign) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.masters == nil || n.closed() {
		return n.client, n.reign
	}
	n.watch.Do(func() {
		n.wait.Go(n.watchMaster)
		if n.naming != nil {
			n.wait.Go(func() {
				n.naming.Watch(n.ctx, func(m driver.Named) { n.masters.At(m) }, func() { n.masters.Ended(n.masters.Now()) })
			})
		}
	})
	if now := n.masters.Now(); now != n.reign {
		former := n.client
		n.wait.Go(func() { _ = former.Close() }) // an error only says that the client was closed before
		n.client, n.reign = n.newClient(now), now
	}
	return n.client, n.reign
}

// meet finds out which master a connection leads to.
func (n *redisNode) meet(ctx context.Context, c redis.Cmdable, reign *driver.Reign) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	info := ""
	for _, section := range []string{"server", "replication"} { // Redis before 7 takes one section only
		text, err := c.Info(ctx, section).Result()
		if err != nil {
			return driver.InfoError(n.fault(ctx, err))
		}
		info += text
	}
	return n.masters.Met(reign, info)
}

// watchMaster looks for another master: every quarter of a second if Sentinel knows the master, and else once a second.
// So a client whose connections stay open leaves a master that Sentinel has replaced, or that is a replica now.
func (n *redisNode) watchMaster() {
	every := pingAfter
	if n.options.Addr == failover {
		every /= 4
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-n.ctx.Done():
			return
		}
		n.locate()
		client, reign := n.now()
		_ = n.meet(n.ctx, client, reign) // a call finds the same error
	}
}

// locate asks Sentinel for the master. The client of redis.NewFailoverClient shows its answer by a connection only.
func (n *redisNode) locate() {
	if n.options.Addr != failover || n.options.Dialer == nil {
		return
	}
	ctx, cancel := context.WithTimeout(n.ctx, connectTimeout)
	defer cancel()
	conn, err := n.options.Dialer(ctx, "tcp", failover)
	if err != nil {
		return // a call finds the same error
	}
	addr := conn.RemoteAddr().String()
	_ = conn.Close() // an error only says that the connection was closed before
	n.masters.At(driver.Named{Addr: addr})
}

// noted examines replies that came in this reign. If a reply says that its server is a replica, noted ends the reign.
func (n *redisNode) noted(reign *driver.Reign, replies ...node.Reply) {
	if n.masters == nil {
		return
	}
	for _, r := range replies {
		if n.shard != nil {
			n.shard.Heard(r.Err)
		}
		if driver.Behind(r) {
			n.masters.Ended(reign)
		}
	}
}

// confirms reports whether the node waits for replicas after calls.
func (n *redisNode) confirms(calls []node.Call) bool {
	return n.replication.Replicas > 0 && driver.Confirms(calls)
}
