package fanout

import "github.com/holdfast-go/holdfast/internal/core/clock"

// homes maps the run id of each incarnation to the node behind which the client met it. With homes, one server has
// only one vote, even if two addresses of the list lead to it, or an address leads to another server later.
type homes map[string]home

type home struct {
	node int
	left clock.Instant // when the client found that the node leads to another server; 0: the node still leads to this one
}

// meet notes that the client met an incarnation behind a node. It returns "" if the node may vote. Otherwise it
// returns the address of another node that leads to the same server, or led there less than two windows ago: a server
// that changes its address must not vote twice for one operation, under both addresses. After two windows the server
// refuses the calls from before, also if its clock is behind. But it takes late renewals, so a node that meets a new
// server gets no renewal that was drawn before.
func (f *Fanout) meet(node int, run string) (twin string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	for r, h := range f.homes {
		switch {
		case h.node == node && h.left == 0 && r != run:
			// The node has left its former server. This must be noted even if the node is refused below. Otherwise two
			// nodes that exchange their servers would refuse each other for ever.
			f.homes[r] = home{node, now}
		case h.left != 0 && now.Sub(h.left) > 2*f.config.Set.Window:
			delete(f.homes, r)
		}
	}
	h, known := f.homes[run]
	if known && h.node != node {
		return f.Addr(h.node)
	}
	if !known {
		f.voters[node].since.Store(int64(now))
	}
	f.homes[run] = home{node: node}
	return ""
}

// hasServer reports whether the client met a server behind the node that is not behind another address of the list. The
// caller holds f.mu.
func (f *Fanout) hasServer(node int) bool {
	for _, h := range f.homes {
		if h.node == node && h.left == 0 {
			return true
		}
	}
	return false
}
