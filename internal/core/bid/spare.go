package bid

import "github.com/holdfast-go/holdfast/internal/core/clock"

// spare is the set of nodes that a waiter does not ask for a while. It gave its grants back there, because another
// owner holds the other nodes. The spared nodes lack the holder's lease, and the holder's next renewal repairs it
// there. If many waiters asked these nodes every second, the renewal would hardly find them free. So for half of MaxTTL
// the waiter asks them only if another node has become free. That time is longer than the time to the next renewal.
//
// A node to which the waiter gave a grant back for the first time is not spared. If several waiters rush for a free
// lock, each waiter gets some nodes. The waiter's place in the queues of these nodes then keeps the order.
type spare struct {
	nodes Nodes
	once  Nodes // the nodes that the waiter gave back before
	until clock.Instant
}

func (s *spare) gaveBack(n Nodes, until clock.Instant) {
	s.nodes, s.once, s.until = s.nodes|n&s.once, s.once|n, until
}

// leave returns all nodes except the spared nodes.
func (s *spare) leave(now clock.Instant) Nodes {
	if now >= s.until {
		s.nodes = 0
	}
	return Every &^ s.nodes
}

// askSpared sends the current stamp to the nodes that its round has left out. It does so because another node granted
// the stamp, so the lease that the renewal would repair may have ended.
func (m *Machine) askSpared() {
	left := m.spare.nodes &^ m.which(m.votes.Asked)
	m.spare.nodes = 0
	if left != 0 {
		m.ask(left)
	}
}
