package bid

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// PartEvery is the mean of the first pause between two questions to all nodes while the bid has a partial grant. Later
// pauses are longer. The first pause is short because an older waiter may have got the other nodes in the meantime. Then
// neither waiter gets the name until one of them asks again.
const PartEvery = 200 * time.Millisecond

// learn notes whether the bid now has a grant of the node that answered. A node that did not answer does not count,
// because it is unknown whether that node granted. That is no reason to ask the node more often.
func (m *Machine) learn(node int, ans nodescript.Answer) {
	if ans.Verdict == nodescript.Granted {
		m.part = m.part.With(node)
	} else {
		m.part = m.part.Without(node)
	}
	if m.part == 0 {
		m.halved = 0
	}
}

// split handles the partial grant that a failed round with all nodes left. It reports whether the bid must ask all
// nodes once more, soon. The reason to ask soon is that hand-offs of the other nodes may just be on their way. If they
// do not come, and a node names an older waiter, split gives the partial grant back and the bid goes on. If two bids
// have a partial grant each, one bid keeps its grant and the other gives its grant back. So they cannot exchange grants
// for ever.
func (m *Machine) split(now clock.Instant) (soon bool) {
	part := m.part & m.which(m.votes.Granted) // this excludes an earlier grant, because another one may follow it
	if part == 0 {
		return false
	}
	if m.halved == 0 {
		m.halved = now
		return true
	}
	if now.Sub(m.halved) >= Gather/2 && slices.ContainsFunc(m.votes.Answers(), m.yields) {
		m.part, m.halved = m.part&^part, 0
		m.spare.gaveBack(part, now.Add(m.MaxTTL/2))
		m.release(part, now)
	}
	return false
}

// Wanted gives back a node's grant to stamp, because the holder of a lease wants to repair its lease on that node. The
// holder relied on its lease a moment ago. So this bid cannot get the rest of a majority, no matter which of the two
// came first. If an open round could still get a majority, Wanted ends it, because the missing answers may belong to
// nodes that hang. If a round has won, it has a majority, and Wanted changes nothing.
func (m *Machine) Wanted(now clock.Instant, node int, stamp int64) []Action {
	m.start()
	if m.settled() || m.Passing() || stamp > m.stamp {
		return nil
	}
	if m.state == open {
		m.votes.End()
		m.become(failed)
	}
	m.part = m.part.Without(node)
	if m.part == 0 {
		m.halved = 0
	}
	m.spare.gaveBack(One(node), now.Add(m.MaxTTL/2))
	m.release(One(node), now)
	return m.out
}

// yields reports whether a node's answer says that an older waiter has the name. A lease that expires soon without a
// renewal does not count. Such a lease ends on each node by the clock of that node, and so not on all nodes at the same
// moment.
func (m *Machine) yields(a nodescript.Answer) bool {
	ends := !a.Claim && !a.Foreign && a.Left <= m.Window
	return a.Verdict == nodescript.Held && !ends && m.before(a.Owner)
}
