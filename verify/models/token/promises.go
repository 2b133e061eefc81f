package token

import (
	"fmt"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// This file has the promises of docs/design/protocol.md that need no clock.

// Promise is a promise that the model checks.
type Promise uint8

// These are the promises.
const (
	All           Promise = iota
	TokensGrow            // tokens grow from lease to lease, in the order of real time
	LostStaysLost         // an ended lease is never repaired
	NoGhost               // a released lease is not locked again
	OwnersOnly            // only its owner ends a lease before it expires
	NothingLeft           // an ended attempt leaves no lock
)

// Broken implements [explore.Model].
func (m Model) Broken(before State, step explore.Step, after State) string {
	asked := func(p Promise) bool { return m.Ask == All || m.Ask == p }
	i := int(step.Who)
	switch step.Rule {
	case wins:
		if asked(TokensGrow) {
			return tokensGrow(&before, i)
		}
	case extended:
		// After a loss of memory this promise depends on time, and this model has no clocks. The clock model checks it.
		if asked(LostStaysLost) && m.Wipes == 0 {
			return lostStaysLost(&before, i)
		}
	case grants:
		if said := noGhost(&before, step, &after, int(step.Y)); said != "" && asked(NoGhost) {
			return said
		}
		if said := ownersOnly(&before, step, &after); said != "" && asked(OwnersOnly) {
			return said
		}
	case acquires, extends:
		if said := noGhost(&before, step, &after, i); said != "" && asked(NoGhost) {
			return said
		}
		fallthrough
	case releases, handsOff:
		if said := ownersOnly(&before, step, &after); said != "" && asked(OwnersOnly) {
			return said
		}
	}
	if step.Rule == hears && asked(NothingLeft) {
		if said := declined(&after, i, int(step.Node), int(step.X)); said != "" {
			return said
		}
	}
	if said := nothingLeft(&after); said != "" && asked(NothingLeft) {
		return said
	}
	return ""
}

// tokensGrow checks "tokens grow from lease to lease, in the order of real time". An owner whose stamp is newer than a
// lease gets a higher token. No two leases have the same token.
func tokensGrow(s *State, i int) string {
	o := s.Owners[i]
	if o.Stamp() <= o.Above {
		return fmt.Sprintf("tokens grow: a lease with token %d begins, and one with token %d had begun when its stamp was drawn", o.Stamp(), o.Above)
	}
	for j, other := range s.Owners {
		if j != i && other.Held && other.Stamp() == o.Stamp() {
			return fmt.Sprintf("tokens grow: two leases have the token %d", o.Stamp())
		}
	}
	return ""
}

// lostStaysLost checks "a later lease raised seen on a majority, so a dead lease cannot be repaired back". No renewal
// succeeds that began after a higher token became a lease.
func lostStaysLost(s *State, i int) string {
	if o := s.Owners[i]; o.Above > o.Stamp() {
		return fmt.Sprintf("a lost lease stays lost: token %d is extended, and %d had been given out when the renewal began", o.Stamp(), o.Above)
	}
	return ""
}

// noGhost checks "an acquire or extend of that lease that arrives later finds its token too small". A node does not
// lock again what it has released.
func noGhost(before *State, step explore.Step, after *State, i int) string {
	n := &after.Nodes[step.Node]
	was := &before.Nodes[step.Node]
	if int(n.Owner) != i+1 || n.Token == 0 {
		return ""
	}
	changed := *was != *n
	if changed && n.Token <= was.By[i].Covers() {
		return fmt.Sprintf("no ghost: a node locks for token %d after it released up to %d", n.Token, was.By[i].Covers())
	}
	return ""
}

// ownersOnly checks "at most one valid lease". Before a lease expires on a node, only its owner ends it there: it
// releases or passes it.
func ownersOnly(before *State, step explore.Step, after *State) string {
	was, is := before.Nodes[step.Node], after.Nodes[step.Node]
	if !was.Live || was.Owner == 0 || was.Token == 0 {
		return ""
	}
	if is.Owner == was.Owner && is.Token == was.Token {
		return ""
	}
	i := int(step.Who)
	switch {
	case int(was.Owner) == i+1 && (step.Rule == releases || step.Rule == grants) && was.Token <= uint8(step.X):
		return "" // released
	case int(was.Owner) == i+1 && is.Owner == was.Owner && was.Token < is.Token:
		return "" // a higher stamp of the same attempt
	case step.Rule == acquires && before.Owners[i].From == was.Owner:
		return "" // passed
	}
	return fmt.Sprintf("nobody else takes a lease away: the record of %s is gone before it expired", name(was.Owner))
}

// nothingLeft checks "a cancelled, timed-out or failed attempt leaves no lock". An owner with a live record still wants
// the lock, or a release that covers the record is on its way.
func nothingLeft(s *State) string {
	for n := range s.Nodes {
		node := &s.Nodes[n]
		if !node.Live || node.Owner == 0 || node.Token == 0 {
			continue
		}
		o := s.Owners[node.Owner-1]
		switch o.Phase {
		case Over:
			if o.Releases>>(node.Token-1) != 0 || s.told(n) {
				continue
			}
		case Passed:
			if s.wanted(node.Owner) {
				continue
			}
		default:
			continue
		}
		return fmt.Sprintf("nothing is left behind: %s is over, node %d has its record, and nobody will release it", name(node.Owner), n+1)
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

// declined checks the same after owner i heard from node n of the given lease of owner j: a finished owner releases it.
func declined(s *State, i, n, j int) string {
	o, node := s.Owners[i], &s.Nodes[n]
	if o.Phase != Over || int(node.Owner) != i+1 || !node.Live || node.Token != s.Owners[j].Next || o.Returned() >= node.Token {
		return ""
	}
	return fmt.Sprintf("nothing is left behind: %s is over, node %d gave it a lease, and it does not release it", name(node.Owner), n+1)
}
