package bid

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// PartEvery is the mean of the first pause between two questions to all nodes while the bid has a partial grant. Later
// pauses grow. The first pause is short. In this pause an older waiter may get grants from the other nodes. Then
// neither of the two has a majority until one of them asks again.
const PartEvery = 200 * time.Millisecond

// learn notes whether the bid has a grant of the node that answered. If the call failed, the node may have granted, but
// learn does not count this as a grant. Otherwise a node that is down would make the bid ask more often.
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

// split handles a partial grant after a failed round with all nodes. It returns true if the bid must ask all nodes
// again soon. At first it must: hand-offs of the other nodes may be on their way. If they do not come and a node names
// an older waiter, split gives the partial grant back, and returns false. Without this rule, two bids that have a part
// of the nodes each would block each other for ever. Only the younger bid gives its grants back, so the bids do not
// exchange them for ever.
func (m *Machine) split(now clock.Instant) (soon bool) {
	part := m.part & m.which(m.votes.Granted) // without grants of earlier stamps, because an answer to the current stamp may still come
	if part == 0 {
		return false
	}
	if m.halved == 0 {
		m.halved = now
		return true
	}
	if now.Sub(m.halved) >= Gather/2 && slices.ContainsFunc(m.votes.Answers(), m.yields) {
		m.part, m.halved = m.part&^part, 0
		m.spare.noteGivenBack(part, now.Add(m.MaxTTL/2))
		m.release(part, now)
	}
	return false
}

// Wanted gives a node's grant back. The node sends this message when the holder of a lease wants to repair its lease
// there, and stamp is the stamp of this bid's grant. The holder relied on its lease a moment ago, so it has a
// majority. This bid cannot get one and only blocks the repair, whichever of the two came first. If a round is open,
// Wanted ends it: the missing answers may belong to nodes that hang. If a round has won, the bid has a majority
// itself, and Wanted does nothing.
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
	m.spare.noteGivenBack(One(node), now.Add(m.MaxTTL/2))
	m.release(One(node), now)
	return m.out
}

// yields reports whether a node's answer says that an older waiter has the name. A lease that expires within a window
// does not count. Each node ends such a lease by its own clock, so some nodes may be free already.
func (m *Machine) yields(a nodescript.Answer) bool {
	ends := !a.Claim && !a.Foreign && a.Left <= m.Window
	return a.Verdict == nodescript.Held && !ends && m.before(a.Owner)
}
