package fanout

import "github.com/holdfast-go/holdfast/internal/clock"

// homes are the incarnations of servers, by run id, and the node each was met under:
// one server has one vote, also when a name resolves anew later.
type homes map[string]home

type home struct {
	node int
	left clock.Instant // when the node was seen to lead elsewhere; 0: it leads here
}

// meet notes the incarnation behind a node, and returns the address of another node
// that leads to the same server, or did so less than a window ago. The wait keeps an
// operation that is under way from getting one server's vote twice, by both names; no
// call is sent when it is older.
func (f *Fanout) meet(node int, run string) (twin string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	for r, h := range f.homes {
		switch {
		case h.node == node && h.left == 0 && r != run:
			// Also if node is to be refused: two that change places would otherwise
			// refuse each other for ever.
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

// lives reports whether a server was met behind a node that is not behind another address of the list. f.mu is held.
func (f *Fanout) lives(node int) bool {
	for _, h := range f.homes {
		if h.node == node && h.left == 0 {
			return true
		}
	}
	return false
}
