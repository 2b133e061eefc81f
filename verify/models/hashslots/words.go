package hashslots

import (
	"fmt"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// name returns the name of a server: a master at first is A, B or C, and its replica is a, b or c.
func (m Model) name(i int8) string {
	if i >= m.Masters {
		return string("abc"[i-m.Masters])
	}
	return string("ABC"[i])
}

// Say implements [explore.Model].
func (m Model) Say(before State, step explore.Step, after State) string {
	who, at, other := fmt.Sprintf("client %d", step.Who+1), m.name(max(step.Node, 0)), m.name(max(step.X, 0)%most)
	v, a := &after.Servers[max(step.Node, 0)], &after.Clients[step.Who]
	switch step.Rule {
	case asks:
		return fmt.Sprintf("%s asks the servers: a majority names %s", who, m.name(a.View))
	case sends, runs:
		said := "runs a call"
		was := &before.Clients[step.Who]
		switch {
		case step.Y == 1:
			return fmt.Sprintf("%s renews the lease at %s with a shorter TTL, and the answer is lost", who, at)
		case a.Call.Kind != None && was.Call.Kind == None:
			return fmt.Sprintf("%s sends a call to %s, which comes later", who, at)
		case was.Relies == 0 && a.Relies > 0:
			said = fmt.Sprintf("grants the name: it relies on it for %d", a.Relies)
		case was.Relies > 0 && a.Relies > 0:
			said = fmt.Sprintf("renews the lease: it relies on it for %d", a.Relies)
		case was.Relies > 0:
			said = "does not have the lease: it is lost"
		}
		return fmt.Sprintf("%s: %s %s", who, at, said)
	case gives:
		return fmt.Sprintf("%s releases the name at %s", who, at)
	case proves:
		return fmt.Sprintf("%s asks %s for a proof", who, other)
	case adopts:
		return fmt.Sprintf("%s asks %s to adopt the slot: %s", who, at, phase(v))
	case admits:
		return fmt.Sprintf("%s asks %s for admission: %s", who, at, phase(v))
	case hour:
		return "an hour passes without use"
	case moves:
		return fmt.Sprintf("the slot moves %s from %s to %s", [...]string{"with its keys", "without the record", "(the target saves its data before the record comes)"}[step.Y], at, other)
	case forces:
		return fmt.Sprintf("the slot is given from %s to %s by force, without its keys", at, other)
	case promotes:
		said := ""
		if step.X == 1 {
			said = "; the former master keeps other slots"
		}
		return fmt.Sprintf("%s is promoted%s", at, said)
	case clears:
		return fmt.Sprintf("%s clears its second replication id, and changes the first one", at)
	case hears:
		return fmt.Sprintf("%s hears that it has lost the slot, and deletes its keys", at)
	case copies:
		return fmt.Sprintf("%s gets all writes of its master", at)
	case syncs:
		return fmt.Sprintf("%s hears of its successor, and becomes a replica of %s", at, other)
	case saves:
		return fmt.Sprintf("%s saves its data", at)
	case restarts:
		if step.X == 1 {
			return fmt.Sprintf("%s restarts with the data that it saved", at)
		}
		return fmt.Sprintf("%s restarts without data", at)
	case evicts:
		return fmt.Sprintf("%s evicts the record", at)
	case leaps:
		return fmt.Sprintf("the clock of %s leaps ahead and back: the record and the guard are gone", at)
	}
	return "time passes"
}

func phase(v *Server) string {
	switch v.Slot.Phase {
	case Votes:
		return "it votes"
	case Asks:
		return "it has lost its memory, and writes a challenge"
	}
	return fmt.Sprintf("quarantined for %d", v.Slot.Quiet)
}
