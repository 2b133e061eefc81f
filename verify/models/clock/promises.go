package clock

import (
	"fmt"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// Promise is one of the promises of docs/design/protocol.md that need time.
type Promise uint8

// These are the promises.
const (
	All Promise = iota
	OneHolder
	TokensGrow
	NoGhost
	NoDeadlock
)

// Broken implements [explore.Model].
func (m Model) Broken(before State, step explore.Step, after State) string {
	if step.Rule == acquires || step.Rule == extends {
		was, is := &before.Nodes[step.Node], &after.Nodes[step.Node]
		if m.Ask == All || m.Ask == NoGhost {
			if said := noGhost(int(step.Who), was, is); said != "" {
				return said
			}
		}
		if m.Ask == All || m.Ask == NoDeadlock {
			return noDeadlock(before.Clock(int(step.Node)), was, is, m.TTL)
		}
		return ""
	}
	if step.Rule == grants {
		was, is := &before.Nodes[step.Node], &after.Nodes[step.Node]
		if m.Ask == All || m.Ask == NoGhost {
			if said := noGhost(int(step.X), was, is); said != "" {
				return said
			}
		}
		if m.Ask == All || m.Ask == NoDeadlock {
			return noDeadlock(before.Clock(int(step.Node)), was, is, m.Given)
		}
		return ""
	}
	if step.Rule != wins && step.Rule != extended {
		return ""
	}
	if m.Ask == All || m.Ask == OneHolder {
		if said := oneHolder(&after); said != "" {
			return said
		}
	}
	if step.Rule == wins && (m.Ask == All || m.Ask == TokensGrow) {
		return tokensGrow(&before, int(step.Who))
	}
	return ""
}

// oneHolder checks "at most one valid lease per name". No client begins or continues to rely on the lock while another
// client does.
func oneHolder(s *State) string {
	for i := range s.Clients {
		for j := range i {
			if s.Clients[i].Phase == Holding && s.Clients[j].Phase == Holding {
				return fmt.Sprintf("two holders: at %d %s believes until %d, and %s until %d",
					s.Now-start, name(j), s.Clients[j].Until-start, name(i), s.Clients[i].Until-start)
			}
		}
	}
	return ""
}

// tokensGrow checks "tokens grow from lease to lease, in the order of real time".
func tokensGrow(s *State, i int) string {
	if c := &s.Clients[i]; c.Token() <= c.Above {
		return fmt.Sprintf("tokens grow: a lease with token %d begins, and one with token %d had begun when its stamp was drawn",
			c.Token()-start, c.Above-start)
	}
	return ""
}

// noGhost checks "a late request of a released lease locks nothing": a node that gave a lease back does not lock for it
// again, also if it lost its memory in between.
func noGhost(i int, was, is *Node) string {
	if is.Owner == int8(i+1) && is.Token != 0 && was.Freed>>i&1 != 0 && *is != *was {
		return fmt.Sprintf("no ghost: a node locks for %s, after it gave back that lease", name(i))
	}
	return ""
}

// noDeadlock checks "a dead holder blocks a name for at most TTL + W", by the node's own clock.
func noDeadlock(clock int8, was, is *Node, ttl int8) string {
	if left := is.Expiry - clock; left > ttl+window && is.Expiry != was.Expiry {
		return fmt.Sprintf("no deadlock: a request takes the name for %d, and TTL + W is %d", left, ttl+window)
	}
	return ""
}
