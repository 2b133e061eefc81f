package clock

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/verify/models/real"
)

// TestTheClockModelsNodeIsAdmittedAsTheScriptsHaveIt makes a node lose its memory and admits it again. It tries all
// near clocks and stamps, with and without the challenge, with and without a voucher.
func TestTheClockModelsNodeIsAdmittedAsTheScriptsHaveIt(t *testing.T) {
	if said := estrangement(t, None); said != "" {
		t.Error(said)
	}
}

// TestAWeakenedAdmissionOfTheClockModelDiffersFromTheScripts shows that the comparison finds a weakened rule.
func TestAWeakenedAdmissionOfTheClockModelDiffersFromTheScripts(t *testing.T) {
	for _, r := range []Rule{Quarantine, QuarantineTTL, QuarantineW, ConfirmedStamp, Challenged, VoucherNames} {
		if said := estrangement(t, r); said == "" {
			t.Errorf("without rule %d the model's node is admitted as the scripts have it", r)
		} else {
			t.Log(said)
		}
	}
}

// estrangement returns the first difference between the model without a rule and the scripts, "" if there is none. It
// compares every step from a loss of memory to the next vote.
func estrangement(t *testing.T, without Rule) string {
	const ttl = trusted // so that a voucher shortens the quarantine
	m, node := Model{Config{TTL: ttl, Without: without}}, real.NewNode(t, ttl*real.Window)
	votes := func(clock int8) bool {
		answer, _ := node.Run(t, micros(clock), nodescript.Record{}, nodescript.AcquireCall(real.Lock, real.Owner(1), micros(clock), ttl*real.Window))
		return answer == "G"
	}
	challenge := "" // the real node's last answer
	// admitted asks the model and the real node for admission, and returns how they differ.
	admitted := func(s *State, clock, stamp int8, answers bool) string {
		s.Now = clock
		was, with := s.Nodes[0].Away, ""
		if answers {
			with = challenge
		}
		m.admit(s, clock, stamp, window, answers && challenge != "", m.voucher(s))
		is := s.Nodes[0].Away
		answer, left, names := node.Admit(t, micros(clock), micros(stamp), with)
		if names != "" {
			challenge = names
		}
		same := map[string]bool{
			"O": is == was,
			"C": is == Asks || is == was && !answers,
			"R": is == Votes,
			"Q": is > clock && left == time.Duration(is-clock)*real.Window,
		}[answer]
		if open := m.open(s, 0, clock); !same || votes(clock) != open {
			return fmt.Sprintf("at %d, asked with stamp %d, challenge %t: the script answers %s for %s, and votes: %t; the model's node is away until %d, was until %d, and votes: %t",
				clock-start, stamp-start, answers, answer, left, votes(clock), is, was, open)
		}
		return ""
	}
	const far = window + 1
	type voucher struct{ now, old bool } // the losses with a voucher before the second question
	for first := int8(start - far); first <= start+far; first++ {
		for clock := int8(start - ttl - far); clock <= start+ttl+2*far; clock++ {
			for second := clock - far; second <= clock+far; second++ {
				for how := range 16 {
					begins, answers, vouch := how&1 != 0, how&2 != 0, voucher{how&4 != 0, how&8 != 0}
					var s State
					s.Now = start
					node.Forget()
					m.forget(&s)
					if open := m.open(&s, 0, start); votes(start) != open {
						return fmt.Sprintf("having lost its memory, the node votes: %t; the model's: %t", !open, open)
					}
					if s.Nodes[0].Away == Votes {
						continue
					}
					if said := admitted(&s, start, start, false); said != "" {
						return said
					}
					old := challenge
					if vouch.old { // the node lost its memory again after the voucher
						s.Vouched |= 1 << s.Challenge
						node.Forget()
						m.forget(&s)
						challenge = ""
						if said := admitted(&s, start, start, false); said != "" {
							return said
						}
						if node.Trust(t, micros(start), old) != (m.voucher(&s)) {
							return "a voucher for an earlier loss counts for one of them"
						}
					}
					if said := admitted(&s, start, first, begins); said != "" {
						return said
					}
					if vouch.now {
						if s.Challenge != 0 {
							s.Vouched |= 1 << s.Challenge
						}
						node.Trust(t, micros(start), challenge)
					}
					if said := admitted(&s, clock, second, answers); said != "" {
						return fmt.Sprintf("after a first admission with stamp %d, challenge %t, vouched %+v: %s", first-start, begins, vouch, said)
					}
				}
			}
		}
	}
	return ""
}
