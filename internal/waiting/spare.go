package waiting

import "github.com/holdfast-go/holdfast/internal/clock"

// spare are the nodes that a waiter gave back because the others are held: they lack the
// lease that is there, and its next renewal brings it to them. With many waiters who ask
// them every second it would hardly find them free. For half the longest TTL, longer than
// it takes to be renewed, they are asked only if another node has become free. Not the
// first time: where several rush for a free lock each gets some nodes, and its place in
// their queues is what keeps the order.
type spare struct {
	nodes nodes
	once  nodes // given back before
	until clock.Instant
}

func (s *spare) gaveBack(n nodes, until clock.Instant) {
	s.nodes, s.once, s.until = s.nodes|n&s.once, s.once|n, until
}

// leave returns all nodes but those to be spared.
func (s *spare) leave(now clock.Instant) nodes {
	if now >= s.until {
		s.nodes = 0
	}
	return everyNode &^ s.nodes
}

// askSpared sends the current stamp to the nodes that its round has left out: a node
// granted it, so the lease that was to come back there may be over. b.mu is held.
func (b *bid) askSpared() {
	left := b.spare.nodes
	b.spare.nodes = 0
	for i := range b.fan.N() {
		if left.has(i) && !b.votes.Asked(i) {
			b.askNode(i)
		}
	}
}
