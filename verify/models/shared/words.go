package shared

import (
	"fmt"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// name returns the name of an owner in a trace: W1, R1.
func (m Model) name(i int) string {
	switch {
	case i < 0:
		return "nobody"
	case m.reader(i):
		return fmt.Sprint("R", i-m.Writers+1)
	}
	return fmt.Sprint("W", i+1)
}

// Say implements [explore.Model].
func (m Model) Say(before State, step explore.Step, after State) string {
	who, n := m.name(int(step.Who)), step.Node+1
	o := before.Owners[step.Who]
	was, is := &before.Nodes[step.Node], &after.Nodes[step.Node]
	switch step.Rule {
	case draws:
		return fmt.Sprintf("%s draws stamp %d and asks all nodes", who, step.X)
	case wins:
		return fmt.Sprintf("%s has a majority: it HOLDS the lock, with token %d", who, step.X)
	case renews:
		return fmt.Sprintf("%s sends a renewal of token %d, with stamp %d, to all nodes", who, o.Stamp(), step.X)
	case extended:
		return fmt.Sprintf("%s has a majority for its renewal: token %d is EXTENDED", who, o.Stamp())
	case unrenewed:
		return fmt.Sprintf("the renewal of %s comes to nothing", who)
	case gives:
		return fmt.Sprintf("%s gives back what it got for stamp %d, and bids on", who, step.X)
	case ends:
		return fmt.Sprintf("%s is over: it sends releases up to stamp %d", who, o.Highest())
	case passes:
		return fmt.Sprintf("%s ends its lease and PASSES it to %s, which draws stamp %d", who, m.name(int(step.X)), step.Y)
	case acquires:
		said := "refused"
		if m.grant(is, int(step.Who)) != 0 {
			said = "granted"
		}
		return fmt.Sprintf("node %d carries out the acquire of %s with stamp %d: %s (%s)", n, who, step.X, said, m.had(was))
	case extends:
		said := "extended"
		if m.grant(was, int(step.Who)) == 0 {
			said = "repaired"
		}
		return fmt.Sprintf("node %d carries out the extend of %s with token %d and stamp %d: %s (%s)", n, who, o.Stamp(), step.X, said, m.had(was))
	case releases:
		clock := ""
		if step.Y == 1 {
			clock = ", its clock far behind"
		}
		return fmt.Sprintf("node %d carries out a release of %s up to stamp %d%s (%s)", n, who, step.X, clock, m.had(was))
	case handsOff:
		return fmt.Sprintf("node %d hands the free name to %s: a claim (%s)", n, who, m.had(was))
	case expires:
		owner := int(was.Owner) - 1
		if step.X > 0 {
			owner = int(step.X) - 1
		}
		return fmt.Sprintf("node %d: the grant of %s expires", n, m.name(owner))
	case forgets:
		return fmt.Sprintf("node %d LOSES ITS MEMORY, and votes again on stamps above %d", n, is.Floor)
	}
	return "?"
}

// had returns the earlier memory of a node.
func (m Model) had(n *Node) string {
	said := fmt.Sprintf("it had seen %s", mark(n.Seen))
	if n.RSeen > 0 {
		said += ", rseen " + mark(n.RSeen)
	}
	if n.Leased > 0 {
		said += ", leased " + mark(n.Leased)
	}
	if n.RLeased > 0 {
		said += ", rleased " + mark(n.RLeased)
	}
	if n.Owner != 0 {
		said += ", " + m.one(int(n.Owner)-1, n.Token, n.Live)
	}
	for i, e := range n.Entries {
		if e != 0 {
			said += ", " + m.one(i, e.Token(), n.alive(i))
		}
	}
	return said
}

func (m Model) one(i int, token uint8, live bool) string {
	switch {
	case token == 0:
		return "a claim of " + m.name(i)
	case !live:
		return fmt.Sprintf("expired: %s with token %d", m.name(i), token)
	}
	return fmt.Sprintf("%s with token %d", m.name(i), token)
}

// mark returns a mark of a node; + is a tombstone above the token.
func mark(n uint8) string { return fmt.Sprint(n/2) + [...]string{"", "+"}[n%2] }
