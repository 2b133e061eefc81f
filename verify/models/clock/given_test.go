package clock

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// TestAGivenLeaseAndItsQuestionAreOfOneMemory takes a way that is too long for a search of all states. Only clocks and
// stamps that may be wrong are wrong: the clock of node 1 at the beginning, and A's stamp for the next owner. Node 1
// gives a lease to B and loses its memory. Its quarantine ends, and C gets the lock. Then B asks node 1, and hears of
// the lease after that. The answer's seen is below the stamp of the lease, because the stamp was far ahead. If leases
// count from pings, B's lease is over by then.
func TestAGivenLeaseAndItsQuestionAreOfOneMemory(t *testing.T) {
	c := Config{Clients: 3, TTL: 7, Margin: 4, Given: 7, Horizon: 10, Rounds: 2, Renewals: [most]int8{1}, Stray: 9,
		Begun: true, Minority: true, Jumps: 2, Reach: 9, Wipes: 1, Off: [nodes]int8{0, -1, 0}, Without: GivenOneMemory}
	way := []string{
		"at 0: A sends a renewal with stamp 0",
		"at 0: node 2 (clock -1) carries out renewal 1 of A, with stamp 0: owner A until 7",
		"at 0: node 1 (clock 0) carries out renewal 1 of A, with stamp 0: owner A until 7",
		"at 0: B draws stamp 0",
		"at 0: A is over: it sends releases up to stamp 0, with stamp 9 FOR THE NEXT",
		"at 0: the clock of node 1 JUMPS: it is +9 off now",
		"at 0: node 1 (clock 9) carries out a release of A, and GIVES the lease to B with stamp 9",
		"at 0: the clock of node 1 JUMPS: it is +0 off now",
		"at 0: node 1 LOSES ITS MEMORY",
		"at 0: node 1 (clock 0) writes a challenge",
		"at 0: node 1 (clock 0) begins its quarantine: until 8",
		"at 0: time", "at 1: time", "at 2: time", "at 3: time", "at 4: time", "at 5: time", "at 6: time",
		"at 7: B draws stamp 7",
		"at 7: node 2 (clock 6) carries out the acquire of B with stamp 7: owner A until 7",
		"at 7: time",
		"at 8: node 1 (clock 8) votes again",
		"at 8: C draws stamp 8",
		"at 8: node 1 (clock 8) carries out the acquire of C with stamp 8: owner C",
		"at 8: node 3 (clock 8) carries out the acquire of C with stamp 8: owner C",
		"at 8: C has a majority: it HOLDS the lock until 11",
		"at 8: node 1 (clock 8) carries out the acquire of B with stamp 7: owner C",
		"at 8: time",
		"at 9: node 2 (clock 8) carries out a release of A, and GIVES the lease to B with stamp 9",
		"at 9: B hears from node 2",
		"at 9: B hears from node 1",
		"at 9: B has a majority: it HOLDS the lock until 10",
	}
	said, broken := walk(Model{c}, way)
	if len(said) < len(way) || broken == "" {
		t.Errorf("without the rule the way ends after %d steps of %d, with the promise %q\n%s", len(said), len(way), broken, explore.Numbered(said))
	}
	t.Logf("\n%s    => %s", explore.Numbered(said), broken)
	c.Without = None
	if said, _ = walk(Model{c}, way); len(said) != len(way)-2 {
		t.Errorf("with the rule the way ends after %d steps, want before B hears from node 1\n%s", len(said), explore.Numbered(said))
	}
	c.Pings, c.Without = true, GivenOneMemory
	way = slices.DeleteFunc(way, func(words string) bool { return strings.Contains(words, "acquire of B") }) // its answer does not matter
	if said, _ = walk(Model{c}, way); len(said) != len(way)-1 {
		t.Errorf("with pings the way ends after %d steps, want before B has a lease\n%s", len(said), explore.Numbered(said))
	}
}

// walk takes the steps that begin with some words, as far as they are possible. It returns them, and the promise that
// the last one breaks.
func walk(m Model, way []string) (said []string, broken string) {
	s := m.Initial()
	for _, words := range way {
		found, before := false, s
		m.Steps(before, func(step explore.Step, after State) {
			if say := m.Say(before, step, after); !found && strings.HasPrefix(say, words) {
				found, s, said, broken = true, after, append(said, say), m.Broken(before, step, after)
			}
		})
		if !found || broken != "" {
			break
		}
	}
	return said, broken
}
