package shared

import (
	"fmt"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// This file has the promises of docs/design/protocol.md about readers and writers.

// Promise is a promise that the model checks.
type Promise uint8

// These are the promises.
const (
	All           Promise = iota
	Exclusion             // a writer relies on the lock beside nobody; only where expiry is timely
	TokensGrow            // a writer's token is above all before it, a reader's above those of writers
	LostStaysLost         // an ended lease is never repaired beside a later one
	NoGhost               // a released lease is not locked again
	OwnersOnly            // only its owner ends a grant before it expires, and no writer has a node beside a reader
	NothingLeft           // an ended attempt leaves no lock
)

// Broken implements [explore.Model].
func (m Model) Broken(before State, step explore.Step, after State) string {
	asked := func(p Promise) bool { return m.Ask == All || m.Ask == p }
	i := int(step.Who)
	switch step.Rule {
	case wins:
		if said := m.exclusion(&after, i); said != "" && asked(Exclusion) && m.Timely {
			return said
		}
		if asked(TokensGrow) {
			return m.tokensGrow(&before, i)
		}
	case extended:
		// After a loss of memory this promise depends on time, and this model has no clocks. The clock model checks it.
		if o := before.Owners[i]; o.Above > o.Stamp() && asked(LostStaysLost) && m.Wipes == 0 {
			return fmt.Sprintf("a lost lease stays lost: token %d is extended, and %d had been given out when the renewal began", o.Stamp(), o.Above)
		}
	case acquires, extends:
		if said := m.noGhost(&before, step, &after); said != "" && asked(NoGhost) {
			return said
		}
		fallthrough
	case releases, handsOff:
		if said := m.ownersOnly(&before, step, &after); said != "" && asked(OwnersOnly) {
			return said
		}
	}
	if said := m.nothingLeft(&after); said != "" && asked(NothingLeft) {
		return said
	}
	return ""
}

// exclusion checks "at most one valid lease, or several of readers".
func (m Model) exclusion(s *State, i int) string {
	for j, o := range s.Owners {
		if j != i && o.Believes() && !(m.reader(i) && m.reader(j)) {
			return fmt.Sprintf("exclusion: %s and %s rely on the lock at the same time", m.name(i), m.name(j))
		}
	}
	return ""
}

// tokensGrow checks "a writer's token is above those of all earlier leases, a reader's above those of all earlier
// writers". Where expiry is timely, an earlier lease is one that began before. Elsewhere it is one that had begun when
// the stamp was drawn.
func (m Model) tokensGrow(s *State, i int) string {
	o, reader := s.Owners[i], m.reader(i)
	above := o.Above
	if m.Timely {
		above = m.highestHeld(s, reader)
	}
	if o.Stamp() <= above {
		return fmt.Sprintf("tokens grow: %s gets token %d, and a lease with token %d began before", m.name(i), o.Stamp(), above)
	}
	for j, other := range s.Owners {
		if j != i && other.Held && other.Stamp() == o.Stamp() && !(reader && m.reader(j)) {
			return fmt.Sprintf("tokens grow: %s and %s have the token %d", m.name(i), m.name(j), o.Stamp())
		}
	}
	return ""
}

// grant returns the token of an owner's live grant on a node, 0 if it has none.
func (m Model) grant(n *Node, i int) uint8 {
	switch {
	case m.reader(i) && n.alive(i):
		return n.Entries[i].Token()
	case !m.reader(i) && n.Live && int(n.Owner) == i+1:
		return n.Token
	}
	return 0
}

// noGhost checks "a late acquire or extend of a released lease locks nothing". A node does not lock again what it has
// released.
func (m Model) noGhost(before *State, step explore.Step, after *State) string {
	i, was := int(step.Who), &before.Nodes[step.Node]
	covers, token := was.By[i].Covers(), m.grant(&after.Nodes[step.Node], i)
	message := token // the stamp of the message that locks
	if m.reader(i) && step.Rule == extends {
		message = uint8(step.X)
	}
	here := was.Entries[i] == Entry(token+1) || int(was.Owner) == i+1 && was.Token == token // an expired grant
	if token != 0 && !here && message <= covers {
		return fmt.Sprintf("no ghost: a node locks for token %d by a message with stamp %d after it released up to %d", token, message, covers)
	}
	return ""
}

// ownersOnly checks that a live grant is ended by its owner only: it releases or passes it, or has a higher stamp. It
// also checks that no node has live grants of a writer and of somebody else.
func (m Model) ownersOnly(before *State, step explore.Step, after *State) string {
	was, is, who := &before.Nodes[step.Node], &after.Nodes[step.Node], int(step.Who)
	for i := range m.owners() {
		had, has := m.grant(was, i), m.grant(is, i)
		switch {
		case had == 0, had == has:
		case i == who && step.Rule == releases && had <= uint8(step.X):
		case i == who && had < has:
		case step.Rule == acquires && int(before.Owners[who].From) == i+1:
		default:
			return fmt.Sprintf("nobody else takes a lease away: the grant of %s is gone before it expired", m.name(i))
		}
	}
	if r := is.read(false); r >= 0 && is.held() {
		return fmt.Sprintf("a node has live grants of %s and of %s", m.name(int(is.Owner)-1), m.name(r))
	}
	return ""
}

// nothingLeft checks "a cancelled, timed-out or failed attempt leaves no lock". An owner with a live grant still wants
// the lock, or a release that covers the grant is on its way.
func (m Model) nothingLeft(s *State) string {
	for n := range s.Nodes {
		for i, o := range s.Owners {
			token := m.grant(&s.Nodes[n], i)
			if token == 0 || o.Phase < Passed {
				continue
			}
			if o.Phase == Over && o.Releases>>(token-1) != 0 || o.Phase == Passed && s.wanted(uint8(i+1)) {
				continue
			}
			return fmt.Sprintf("nothing is left behind: %s is over, node %d has its grant, and nobody will release it", m.name(i), n+1)
		}
	}
	return ""
}

// wanted reports whether an owner still has to take or release the lease that another owner passed.
func (s *State) wanted(owner uint8) bool {
	for _, o := range s.Owners {
		if o.From == owner && o.Phase == Bidding {
			return true
		}
	}
	return false
}
