package clock

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/models/real"
	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// TestTheClockModelsNodeIsAdmittedAsTheScriptsHaveIt lets a node lose its memory and has it admitted twice, by all clocks
// and stamps that are near.
func TestTheClockModelsNodeIsAdmittedAsTheScriptsHaveIt(t *testing.T) {
	if said := estrangement(t, None); said != "" {
		t.Error(said)
	}
}

// TestAWeakenedAdmissionOfTheClockModelDiffersFromTheScripts shows that the comparison would see it.
func TestAWeakenedAdmissionOfTheClockModelDiffersFromTheScripts(t *testing.T) {
	for _, r := range []Rule{Quarantine, QuarantineTTL, QuarantineW, ConfirmedStamp} {
		if said := estrangement(t, r); said == "" {
			t.Errorf("without rule %d the model's node is admitted as the scripts have it", r)
		} else {
			t.Log(said)
		}
	}
}

// estrangement is the first step between a loss of memory and the next vote in which the model, without a rule, and
// the scripts differ; "" if there is none.
func estrangement(t *testing.T, without Rule) string {
	const ttl = 4
	m, node := Model{Config{TTL: ttl, Without: without}}, real.NewNode(t, ttl*real.Window)
	votes := func(clock int8) bool {
		answer, _ := node.Run(t, micros(clock), nodescript.Record{}, nodescript.AcquireCall(real.Lock, real.Owner(1), micros(clock), ttl*real.Window))
		return answer == "G"
	}
	// admitted asks both, and says how they differ.
	admitted := func(s *State, clock, stamp int8) string {
		s.Now = clock
		was := s.Nodes[0].Away
		m.admit(&s.Nodes[0], clock, stamp)
		is := s.Nodes[0].Away
		answer, left := node.Admit(t, micros(clock), micros(stamp))
		same := map[string]bool{
			"O": is == was,
			"R": is == Votes,
			"Q": is > clock && left == time.Duration(is-clock)*real.Window,
		}[answer]
		if open := m.open(s, 0, clock); !same || votes(clock) != open {
			return fmt.Sprintf("at %d, asked with stamp %d: the script answers %s for %s, and votes: %t; the model's node is away until %d, was until %d, and votes: %t",
				clock-start, stamp-start, answer, left, votes(clock), is, was, open)
		}
		return ""
	}
	const far = window + 1
	for first := int8(start - far); first <= start+far; first++ {
		for clock := int8(start - ttl - far); clock <= start+ttl+2*far; clock++ {
			for second := clock - far; second <= clock+far; second++ {
				var s State
				s.Now = start
				node.Forget()
				m.forget(&s.Nodes[0])
				if open := m.open(&s, 0, start); votes(start) != open {
					return fmt.Sprintf("having lost its memory, the node votes: %t; the model's: %t", !open, open)
				}
				if said := admitted(&s, start, first); said != "" {
					return said
				}
				if said := admitted(&s, clock, second); said != "" {
					return fmt.Sprintf("after a first admission with stamp %d: %s", first-start, said)
				}
			}
		}
	}
	return ""
}
