package clock

import (
	"fmt"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// name returns the name of a client in a trace, counted from 0.
func name(client int) string { return string("ABC"[client]) }

// Say implements [explore.Model]. Instants and stamps are counted from the start.
func (m Model) Say(before State, step explore.Step, after State) string {
	return fmt.Sprintf("at %d: %s", before.Now-start, m.say(&before, step, &after))
}

func (m Model) say(before *State, step explore.Step, after *State) string {
	who, n := name(int(step.Who)), step.Node+1
	was, c := &before.Clients[step.Who], &after.Clients[step.Who]
	node, clock := &after.Nodes[step.Node], before.Clock(int(step.Node))-start
	switch step.Rule {
	case ticks:
		said := "time passes"
		for i := range before.Clients {
			if before.Clients[i].Phase == Holding && after.Clients[i].Phase == Over {
				said += fmt.Sprintf("; the deadline of %s", name(i))
			}
		}
		return said
	case draws:
		return fmt.Sprintf("%s draws stamp %d and asks all nodes", who, c.Token()-start)
	case wins:
		return fmt.Sprintf("%s has a majority: it HOLDS the lock until %d", who, c.Until-start)
	case renews:
		return fmt.Sprintf("%s sends a renewal with stamp %d", who, c.Stamp[was.Count]-start)
	case extended:
		return fmt.Sprintf("%s has a majority for its renewal %d: it HOLDS the lock until %d", who, step.X+1, c.Until-start)
	case gives:
		return fmt.Sprintf("%s gives back what it got for stamp %d, and bids on", who, was.Token()-start)
	case ends:
		return fmt.Sprintf("%s is over: it sends releases up to stamp %d", who, was.Highest()-start)
	case passes:
		return fmt.Sprintf("%s ends its lease and PASSES it to %s, which draws stamp %d", who, name(int(step.X)), after.Clients[step.X].Token()-start)
	case reads:
		if c.Moved {
			return fmt.Sprintf("%s reads the clocks: they moved to %+d, it waits", who, c.Moving)
		}
		return fmt.Sprintf("%s reads the clocks: its stamps are %+d now", who, c.Lead)
	case acquires:
		return fmt.Sprintf("node %d (clock %d) carries out the acquire of %s with stamp %d: owner %s until %d",
			n, clock, who, was.Stamps[step.X]-start, owner(node), node.Expiry-start)
	case extends:
		said := "renewal"
		if m.Turns {
			said = "downgrade"
		}
		return fmt.Sprintf("node %d (clock %d) carries out %s %d of %s, with stamp %d: owner %s until %d",
			n, clock, said, step.X+1, who, was.Stamp[step.X]-start, owner(node), node.Expiry-start)
	case releases:
		return fmt.Sprintf("node %d (clock %d) carries out a release of %s up to stamp %d: owner %s, seen %s",
			n, clock, who, step.X-start, owner(node), seen(node))
	case handsOff:
		return fmt.Sprintf("node %d (clock %d) hands the free name to %s: a claim until %d", n, clock, who, node.Expiry-start)
	case offers:
		return fmt.Sprintf("%s is over: it sends releases up to stamp %d, with stamp %d FOR THE NEXT", who, was.Highest()-start, c.Next-start)
	case grants:
		return fmt.Sprintf("node %d (clock %d) carries out a release of %s, and GIVES the lease to %s with stamp %d: until %d",
			n, clock, who, name(int(step.X)), was.Next-start, node.Expiry-start)
	case hears:
		return fmt.Sprintf("%s hears from node %d: it has a grant with stamp %d there, which counts from %d",
			who, n, c.Given-start, node.Heard[step.Who].Since-start)
	case jumps:
		return fmt.Sprintf("the clock of node %d JUMPS: it is %+d off now", n, step.X)
	case forgets:
		return fmt.Sprintf("node %d LOSES ITS MEMORY", n)
	case vouches:
		return fmt.Sprintf("an operator vouches for loss %d of node %d", step.X, n)
	case admits, trusts:
		late := ""
		if step.X != before.Now+before.Clients[0].Lead {
			late = fmt.Sprintf(", asked LATE with stamp %d,", step.X-start)
		}
		if step.Rule == trusts {
			late += ", with a voucher,"
		}
		if node.Away == Asks {
			return fmt.Sprintf("node %d (clock %d)%s writes a challenge", n, clock, late)
		}
		if node.Away == Votes {
			return fmt.Sprintf("node %d (clock %d)%s votes again", n, clock, late)
		}
		return fmt.Sprintf("node %d (clock %d)%s begins its quarantine: until %d", n, clock, late, node.Away-start)
	}
	return "?"
}

func owner(n *Node) string {
	if n.Owner == 0 {
		return "nobody"
	}
	return name(int(n.Owner - 1))
}

// seen returns the highest token that a node has seen; + marks a tombstone above it.
func seen(n *Node) string {
	return fmt.Sprint(n.Seen/2-start) + [...]string{"", "+"}[n.Seen%2]
}
