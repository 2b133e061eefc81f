package rueidisnode

import (
	"context"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// This file follows the master of a node that is declared replicated.

// whereTo returns the address to dial, and the reign to which the connection belongs. The reign is nil unless the
// master may change.
func (n *Node) whereTo(ctx context.Context) (*driver.Reign, string, error) {
	switch {
	case n.masters == nil:
		return nil, n.target.addr, nil
	case n.naming == nil:
		return n.masters.Now(), n.target.addr, nil
	}
	n.pool.mu.Lock()
	if !n.watched && !n.closed() { // Close cancels under this mutex, and then waits
		n.watched = true
		n.pool.wg.Go(func() { n.naming.Watch(n.ctx, n.named, func() { n.masters.Ended(n.masters.Now()) }) })
	}
	n.pool.mu.Unlock()
	var reign *driver.Reign
	var at string
	if err := n.naming.Master(ctx, func(m driver.Named) { reign, at = n.masters.At(m), m.Addr }); err != nil {
		return nil, "", err
	}
	return reign, at, nil
}

func (n *Node) named(m driver.Named) { n.masters.At(m) }

// meet finds out which master a link leads to. After an error the link must not be used.
func (n *Node) meet(ctx context.Context, l *link) error {
	if n.masters == nil {
		return nil
	}
	info, err := n.info(ctx, l)
	if err != nil {
		return err
	}
	return n.masters.Met(l.reign, info)
}

func (n *Node) info(ctx context.Context, l *link) (info string, err error) {
	b := newBatch()
	defer b.recycle()
	b.add(builder.Arbitrary("INFO", "server").Build()) // Redis before 7 takes one section only
	b.add(builder.Arbitrary("INFO", "replication").Build())
	for _, result := range l.run(ctx, b) {
		text, err := result.ToString() // a verbatim string, which a script never answers
		if err != nil {
			return "", driver.InfoError(n.reply(ctx, result).Err)
		}
		info += text
	}
	return info, nil
}

// watch looks for another master, about once a second. So a client whose connections stay open leaves a master that is
// a replica now.
func (n *Node) watch() {
	ctx, cancel := context.WithTimeout(n.ctx, hungAfter)
	defer cancel()
	l, err := n.pool.take(ctx)
	if err != nil {
		return // the next call finds out why
	}
	if n.meet(ctx, l) != nil {
		l.drop()
	}
	n.pool.put(l)
}

// noted examines a reply that came over a link. If the reply says that its server is a replica, noted ends the reign.
func (n *Node) noted(l *link, r node.Reply) {
	if n.shard != nil {
		n.shard.Heard(r.Err)
	}
	if n.masters != nil && driver.Behind(r) {
		n.masters.Ended(l.reign)
	}
}

// confirms reports whether the node waits for replicas after calls.
func (n *Node) confirms(calls []node.Call) bool {
	return n.target.replication.Replicas > 0 && driver.Confirms(calls)
}
