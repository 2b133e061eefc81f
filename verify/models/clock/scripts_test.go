package clock

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/verify/models/real"
)

// heir is C. It is the waiter if there is one, and hears of hand-offs.
const heir = 3

// TestTheClockModelsNodeDoesWhatTheScriptsDo runs every call on every small record in both ways, with and without
// waiters. With waiters, acquires and releases hand the name on.
func TestTheClockModelsNodeDoesWhatTheScriptsDo(t *testing.T) {
	if said := difference(t, None); said != "" {
		t.Error(said)
	}
}

// TestAWeakenedNodeOfTheClockModelDiffersFromTheScripts shows that the comparison finds a weakened rule.
func TestAWeakenedNodeOfTheClockModelDiffersFromTheScripts(t *testing.T) {
	for _, r := range []Rule{Window, AcquireInTime, NotAhead, NotOver, HigherTokens, PassNamesOwner, ExpiryNeverFalls, RepairTokens, RepairBelieved, ReleaseOwnOnly, ReleaseCovered} {
		if said := difference(t, r); said == "" {
			t.Errorf("without rule %d the model's node does what the scripts do", r)
		} else {
			t.Log(said)
		}
	}
}

// unit is one W in microseconds.
const unit = int64(real.Window / 1000)

// micros returns an instant of the model in the form of the scripts.
func micros(at int8) int64 { return real.Epoch + int64(at)*unit }

// record returns a record of the model in the form of the scripts. The model counts seen in halves.
func record(n Node) (r nodescript.Record) {
	if n.Seen != 0 {
		r.Seen = micros(n.Seen/2) + int64(n.Seen%2)
	}
	if n.Leased != 0 {
		r.Leased = micros(n.Leased/2) + int64(n.Leased%2)
	}
	if n.Owner != 0 {
		r.Owner, r.Expiry = real.Owner(int(n.Owner)), micros(n.Expiry)
	}
	if n.Token != 0 {
		r.Token = micros(n.Token)
	}
	return r
}

// smallRecords returns records of no owner, of A and of B, with the tokens, expiries and tombstones near the start.
func smallRecords(ttl int8) (all []Node) {
	all = append(all, Node{})
	for seen := int8(2 * start); seen <= 2*(start+3)+1; seen++ {
		for _, leased := range []int8{0, 2 * start, seen} {
			all = append(all, Node{Seen: seen, Leased: leased})
			for owner := int8(1); owner <= 2; owner++ {
				all = append(all, Node{Owner: owner, Expiry: start + 2, Seen: seen, Leased: leased}) // a claim
				for token := int8(start); 2*token <= seen; token++ {
					for more := range int8(2) {
						all = append(all, Node{Owner: owner, Token: token, Expiry: token + ttl + more, Seen: seen, Leased: leased})
					}
				}
			}
		}
	}
	return all
}

// difference returns the first call whose answer or effect differs between the model without a rule and the scripts, ""
// if there is none.
func difference(t *testing.T, without Rule) (said string) {
	const ttl = 4
	m, node := Model{Config{TTL: ttl, Claim: int8(nodescript.Claim / real.Window), Without: without}}, real.NewNode(t, ttl*real.Window)
	owner := real.Owner(1)
	check := func(was, is Node, clock int8, yes bool, yeses string, call nodescript.Call, waiting ...string) {
		if said != "" {
			return
		}
		answer, got := node.Run(t, micros(clock), record(was), call, waiting...)
		if want := record(is); got != want || strings.Contains(yeses, answer) != yes {
			said = fmt.Sprintf("%v at %d on %+v: the script answers %s, the model %v; the script stores\n%+v, the model\n%+v",
				call, clock-start, was, answer, yes, got, want)
		}
	}
	for _, was := range smallRecords(ttl) {
		for clock := int8(start); clock <= start+ttl+1; clock++ {
			for stamp := int8(start); stamp <= start+3; stamp++ {
				s := State{Now: clock}
				open := m.open(&s, 0, stamp)
				for from := range int8(3) {
					is := was
					call := nodescript.AcquireCall(real.Lock, owner, micros(stamp), ttl*real.Window)
					if from != 0 {
						call = nodescript.PassCall(real.Lock, owner, micros(stamp), ttl*real.Window, real.Owner(int(from)))
					}
					yes := open && m.acquire(&is, clock, 1, stamp, from)
					check(was, is, clock, yes, "G", call)
					if yes && was != (Node{}) && !was.live(clock) { // a node without a record reads no queue
						is, yes = was, false
						m.handOff(&is, clock, heir, 1)
					}
					check(was, is, clock, yes, "G", call, real.Owner(heir))
				}
				for token := int8(start); token <= stamp; token++ {
					for last := stamp - 1; last <= stamp+1; last++ {
						is := was
						yes := m.openLate(&s, 0, stamp) && m.extend(&is, clock, 1, token, stamp, last)
						check(was, is, clock, yes, "ER",
							nodescript.ExtendCall(real.Lock, owner, micros(token), micros(stamp), micros(last-window), ttl*real.Window, real.Window))
					}
				}
				for _, lease := range []bool{false, true} {
					is, call := was, nodescript.AbortCall
					if lease {
						call = nodescript.ReleaseCall
					}
					m.release(&is, clock, 1, stamp, lease)
					mine := was.Owner == 1 && was.Token <= stamp
					check(was, is, clock, mine, "D", call(real.Lock, owner, micros(stamp)))
					if mine {
						m.handOff(&is, clock, heir, 0)
					}
					check(was, is, clock, mine, "D", call(real.Lock, owner, micros(stamp)), real.Owner(heir))
				}
			}
		}
	}
	return said
}
