package bid

import (
	"math/bits"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// spare is the set of nodes that a waiter does not ask for a while. The waiter had a partial grant on these nodes, and
// gave it back because another owner holds the other nodes. The holder's lease is missing on the spared nodes, and the
// next renewal repairs it there. If many waiters asked these nodes every second, the renewal would nearly always find
// them taken. So the waiter spares them for half of MaxTTL, which is longer than the time to the next renewal. It asks
// them earlier only if another node grants.
//
// The first time that a waiter gives a grant back to a node, it does not spare the node. If several waiters ask for a
// free lock at the same moment, each of them gets some nodes. They must stay in the queues of all nodes to be served
// in order. If less than a majority would be left, the waiter spares no node: it could not get the lock.
type spare struct {
	nodes Nodes
	once  Nodes // the nodes to which the waiter gave a grant back before
	until clock.Instant
}

func (s *spare) noteGivenBack(n Nodes, until clock.Instant) {
	s.nodes, s.once, s.until = s.nodes|n&s.once, s.once|n, until
}

// leave returns all of n nodes except the spared ones.
func (s *spare) leave(now clock.Instant, n int) Nodes {
	if now >= s.until || n-bits.OnesCount64(uint64(s.nodes)) < quorum.Majority(n) {
		s.nodes = 0
	}
	return Every &^ s.nodes
}

// askSpared sends the current question to the nodes that the round left out. Another node has granted the stamp. So
// the lease that those nodes were to repair may have ended.
func (m *Machine) askSpared() {
	left := m.spare.nodes &^ m.which(m.votes.Asked)
	m.spare.nodes = 0
	if left != 0 {
		m.ask(left)
	}
}
