package token

import (
	"fmt"

	"github.com/holdfast-go/holdfast/internal/models/explore"
)

// What docs/protocol.md promises, as far as it needs no clock.

// Promise is one of them.
type Promise uint8

// Promises.
const (
	All           Promise = iota
	TokensGrow            // from lease to lease, in the order of real time
	LostStaysLost         // a dead lease is never repaired back
	NoGhost               // what was released is not locked again
	OwnersOnly            // nobody else ends a lease before it expires
	NothingLeft           // an attempt that is over leaves no lock
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
		// After a loss of memory this one needs time: see the clock model.
		if asked(LostStaysLost) && m.Wipes == 0 {
			return lostStaysLost(&before, i)
		}
	case acquires, extends:
		if said := noGhost(&before, step, &after); said != "" && asked(NoGhost) {
			return said
		}
		fallthrough
	case releases, handsOff:
		if said := ownersOnly(&before, step, &after); said != "" && asked(OwnersOnly) {
			return said
		}
	}
	if said := nothingLeft(&after); said != "" && asked(NothingLeft) {
		return said
	}
	return ""
}

// tokensGrow: "tokens grow from lease to lease, in the order of real time". Who drew its
// stamp after a lease had begun gets a higher token; no two leases have the same.
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

// lostStaysLost: "a later lease raised seen on a majority, so a dead lease cannot be
// repaired back". No renewal succeeds that was begun after a higher token was given out.
func lostStaysLost(s *State, i int) string {
	if o := s.Owners[i]; o.Above > o.Stamp() {
		return fmt.Sprintf("a lost lease stays lost: token %d is extended, and %d had been given out when the renewal began", o.Stamp(), o.Above)
	}
	return ""
}

// noGhost: "an acquire or extend of that lease that arrives later finds its token too
// small". What a node has released it does not lock again.
func noGhost(before *State, step explore.Step, after *State) string {
	i, n := int(step.Who), &after.Nodes[step.Node]
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

// ownersOnly: "at most one valid lease": before it expires on a node a lease is
// ended there by nobody but its owner, which gives it back or passes it on.
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
	case int(was.Owner) == i+1 && step.Rule == releases && was.Token <= uint8(step.X):
		return "" // given back
	case int(was.Owner) == i+1 && is.Owner == was.Owner && was.Token < is.Token:
		return "" // a higher stamp of the same bid
	case step.Rule == acquires && before.Owners[i].From == was.Owner:
		return "" // passed on
	}
	return fmt.Sprintf("nobody else takes a lease away: the record of %s is gone before it expired", name(was.Owner))
}

// nothingLeft: "a cancelled, timed-out or failed attempt leaves no lock". Who has a live
// record somewhere still wants it, or a release that covers it is on its way.
func nothingLeft(s *State) string {
	for n := range s.Nodes {
		node := &s.Nodes[n]
		if !node.Live || node.Owner == 0 || node.Token == 0 {
			continue
		}
		o := s.Owners[node.Owner-1]
		switch o.Phase {
		case Over:
			if o.Releases>>(node.Token-1) != 0 {
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

// wanted reports whether somebody still has to see to what an owner passed on.
func (s *State) wanted(owner uint8) bool {
	for _, o := range s.Owners {
		if o.From == owner && o.Phase == Bidding {
			return true
		}
	}
	return false
}
