package fanout

import "github.com/holdfast-go/holdfast/internal/core/clock"

// homes maps run ids to the node behind which the client met each incarnation. One server has one vote, even if a host
// name resolves to another server later.
type homes map[string]home

type home struct {
	node int
	left clock.Instant // the instant at which the client found that the node leads to another server; 0: it leads here
}

// meet notes the incarnation behind a node. It returns the address of another node that leads to the same server, or
// did so less than a window ago. Without the wait of one window, one server could vote twice for the same operation,
// under both addresses. One window is enough, because no call is sent when it is older than a window.
func (f *Fanout) meet(node int, run string) (twin string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	for r, h := range f.homes {
		switch {
		case h.node == node && h.left == 0 && r != run:
			// The node has left its earlier server. This is noted even if the node is refused below: otherwise two nodes
			// that change places would refuse each other for ever.
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

// lives reports whether the client met a server behind a node, and that server is not behind another address of the
// list. The caller holds f.mu.
func (f *Fanout) lives(node int) bool {
	for _, h := range f.homes {
		if h.node == node && h.left == 0 {
			return true
		}
	}
	return false
}
