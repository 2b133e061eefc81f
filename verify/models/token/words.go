package token

import (
	"fmt"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// name returns the name of an owner in a trace, counted from 1.
func name(owner uint8) string { return string("?ABC"[owner]) }

// Say implements [explore.Model].
func (m Model) Say(before State, step explore.Step, after State) string {
	who, n := name(uint8(step.Who+1)), step.Node+1
	o := before.Owners[step.Who]
	was, is := before.Nodes[step.Node], after.Nodes[step.Node]
	switch step.Rule {
	case draws:
		return fmt.Sprintf("%s draws stamp %d and asks all nodes", who, step.X)
	case wins:
		return fmt.Sprintf("%s has a majority: it HOLDS the lock, with token %d", who, step.X)
	case renews:
		return fmt.Sprintf("%s sends a renewal of token %d to all nodes", who, o.Stamp())
	case extended:
		return fmt.Sprintf("%s has a majority for its renewal: token %d is EXTENDED", who, o.Stamp())
	case unrenewed:
		return fmt.Sprintf("the renewal of %s comes to nothing", who)
	case gives:
		return fmt.Sprintf("%s gives back what it got for stamp %d, and bids on", who, step.X)
	case ends:
		return fmt.Sprintf("%s is over: it sends releases up to stamp %d", who, step.X)
	case passes:
		return fmt.Sprintf("%s ends its lease and PASSES it to %s, which draws stamp %d", who, name(uint8(step.X+1)), step.Y)
	case acquires:
		said := "held or stale"
		if after.Nodes[step.Node].By[step.Who]&Voted != 0 || was.Owner != is.Owner || was.Token != is.Token {
			said = "granted"
		}
		return fmt.Sprintf("node %d carries out the acquire of %s with stamp %d: %s (%s)", n, who, step.X, said, had(was))
	case extends:
		said := "extended"
		if was.Owner != is.Owner || was.Token != is.Token {
			said = "repaired"
		}
		return fmt.Sprintf("node %d carries out the extend of %s with token %d: %s (%s)", n, who, o.Stamp(), said, had(was))
	case releases:
		clock := ""
		if step.Y == 1 {
			clock = ", its clock far behind"
		}
		return fmt.Sprintf("node %d carries out a release of %s up to stamp %d%s: seen is %s now (%s)", n, who, step.X, clock, seen(is), had(was))
	case offers:
		return fmt.Sprintf("%s is over: it sends releases up to stamp %d, with stamp %d FOR THE NEXT", who, step.X, step.Y)
	case grants:
		return fmt.Sprintf("node %d carries out a release of %s up to stamp %d, and GIVES the lease to %s with token %d (%s)", n, who, step.X, name(uint8(step.Y+1)), o.Next, had(was))
	case hears:
		if o.Phase == Over {
			return fmt.Sprintf("%s hears from node %d of a given lease, and releases it up to stamp %d", who, n, before.Owners[step.X].Next)
		}
		return fmt.Sprintf("%s hears from node %d: it has a grant with stamp %d there", who, n, before.Owners[step.X].Next)
	case restores:
		return fmt.Sprintf("node %d RESTARTS WITH OLDER DATA, and does not vote: %s", n, had(is))
	case returns:
		return fmt.Sprintf("node %d votes again on stamps above %d", n, is.Floor)
	case handsOff:
		return fmt.Sprintf("node %d hands the free name to %s: a claim", n, who)
	case expires:
		return fmt.Sprintf("node %d: the record of %s expires", n, name(was.Owner))
	case forgets:
		return fmt.Sprintf("node %d LOSES ITS MEMORY, and votes again on stamps above %d", n, is.Floor)
	}
	return "?"
}

// had returns the earlier record of a node.
func had(n Node) string {
	switch {
	case n.Owner == 0:
		return fmt.Sprintf("it had seen %s, free", seen(n))
	case n.Token == 0:
		return fmt.Sprintf("it had seen %s, a claim of %s", seen(n), name(n.Owner))
	case !n.Live:
		return fmt.Sprintf("it had seen %s, expired: %s", seen(n), name(n.Owner))
	}
	return fmt.Sprintf("it had seen %s, owner %s with token %d", seen(n), name(n.Owner), n.Token)
}

// seen returns the highest token that a node has seen; + marks a tombstone above it.
func seen(n Node) string { return fmt.Sprint(n.Seen/2) + [...]string{"", "+"}[n.Seen%2] }
