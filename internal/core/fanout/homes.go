package fanout

import "github.com/holdfast-go/holdfast/internal/core/clock"

// homes maps run ids to the node under which each incarnation was met. One server has one vote, also if a host name
// resolves to another server later.
type homes map[string]home

type home struct {
	node int
	left clock.Instant // instant at which the node was found to lead to another server; 0: it leads here
}

// meet notes the incarnation behind a node. If another node leads to the same server, or did so less than a window ago,
// it returns that node's address. The wait of one window prevents that an operation under way gets one server's vote
// twice, under both names. No call is sent when it is older than a window.
func (f *Fanout) meet(node int, run string) (twin string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	for r, h := range f.homes {
		switch {
		case h.node == node && h.left == 0 && r != run:
			// This also happens if node is then refused. Otherwise two nodes that change places would refuse each other
			// for ever.
			f.homes[r] = home{node, now}
		case h.left != 0 && now.Sub(h.left) > f.config.Set.Window:
			delete(f.homes, r)
		}
	}
	if h, known := f.homes[run]; known && h.node != node {
		return f.Addr(h.node)
	}
	f.homes[run] = home{node: node}
	return ""
}

// lives reports whether a server was met behind a node and is not behind another address of the list. f.mu is held.
func (f *Fanout) lives(node int) bool {
	for _, h := range f.homes {
		if h.node == node && h.left == 0 {
			return true
		}
	}
	return false
}
