package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// The fix for a quarantine is to wait, and never for less than the state says.
func TestTheFixOfAQuarantineIsNotShorterThanItsState(t *testing.T) {
	e := &exam{}
	e.votes([]holdfast.NodeAnswer{{Node: "a", Reason: holdfast.ReasonQuarantined, Cause: holdfast.CauseNew, VotesIn: 7400 * time.Millisecond}})
	for _, f := range e.findings {
		if f.Check == "votes" && f.Node == "a" && (!strings.Contains(f.State, "for another 7.4s") || !strings.HasPrefix(f.Fix, "wait 8s;")) {
			t.Errorf("%s; fix: %s", f.State, f.Fix)
		}
	}
}
