package clock

import (
	"fmt"

	"github.com/holdfast-go/holdfast/internal/check/models/explore"
)

// Promise is one of the promises of docs/protocol.md that need time.
type Promise uint8

// These are the promises.
const (
	All Promise = iota
	OneHolder
	TokensGrow
)

// Broken implements [explore.Model].
func (m Model) Broken(before State, step explore.Step, after State) string {
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
