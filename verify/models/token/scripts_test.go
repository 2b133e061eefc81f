package token

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/verify/models/real"
)

// TestTheTokenModelsNodeDoesWhatTheScriptsDo runs every call on every record in both ways, with and without waiters.
// With waiters, acquires and releases hand the name on.
func TestTheTokenModelsNodeDoesWhatTheScriptsDo(t *testing.T) {
	if said := difference(t, None); said != "" {
		t.Error(said)
	}
}

// TestAWeakenedNodeOfTheTokenModelDiffersFromTheScripts shows that the comparison finds a weakened rule.
func TestAWeakenedNodeOfTheTokenModelDiffersFromTheScripts(t *testing.T) {
	for r := HigherTokens; r <= ClaimKeepsSeen; r++ {
		if said := difference(t, r); said == "" {
			t.Errorf("without rule %d the model's node does what the scripts do", r)
		} else {
			t.Log(said)
		}
	}
}

// ttl is so long that no record expires by itself.
const ttl = 4 * real.Window

// micros returns a stamp of the model in the form of the scripts. All are inside the window.
func micros(stamp uint8) int64 { return real.Epoch + 1000*int64(stamp) }

// record returns a record of the model in the form of the scripts.
func record(n Node) (r nodescript.Record) {
	if n.Seen != 0 {
		r.Seen = micros(n.Seen/2) + int64(n.Seen%2)
	}
	if n.Leased != 0 {
		r.Leased = micros(n.Leased/2) + int64(n.Leased%2)
	}
	if n.Owner != 0 {
		r.Owner, r.Expiry = real.Owner(int(n.Owner)), real.Epoch-1
		if n.Live {
			r.Expiry = real.Epoch + ttl.Microseconds()
		}
	}
	if n.Token != 0 {
		r.Token = micros(n.Token)
	}
	return r
}

// timeless returns a record without its instants. The model knows only whether it has expired.
func timeless(r nodescript.Record, now int64) nodescript.Record {
	if r.Owner != "" {
		r.Expiry = map[bool]int64{false: 1, true: 2}[now < r.Expiry]
	}
	return r
}

// difference returns the first call whose answer or effect differs between the model without a rule and the scripts, ""
// if there is none.
func difference(t *testing.T, without Rule) (said string) {
	m, node, owner := Model{Config{Without: without}}, real.NewNode(t, ttl), real.Owner(1)
	check := func(was, is Node, now int64, yes bool, yeses string, call nodescript.Call, waiting ...string) {
		if said != "" {
			return
		}
		answer, got := node.Run(t, now, record(was), call, waiting...)
		want := record(is)
		if timeless(got, now) != timeless(want, now) || strings.Contains(yeses, answer) != yes {
			said = fmt.Sprintf("%v on %+v: the script answers %s, the model %v; the script stores\n%+v, the model\n%+v",
				call, was, answer, yes, got, want)
		}
	}
	for _, was := range records() {
		for stamp := uint8(1); stamp <= 3; stamp++ {
			for from := range uint8(3) {
				is := was
				said := m.acquire(&is, 1, stamp, from)
				call := nodescript.AcquireCall(real.Lock, owner, micros(stamp), ttl)
				if from != 0 {
					call = nodescript.PassCall(real.Lock, owner, micros(stamp), ttl, real.Owner(int(from)))
				}
				check(was, is, real.Epoch, said != refused, "G", call)
				if was != (Node{}) { // a node without a record reads no queue
					yes := said != refused
					if yes && !was.Live {
						is, yes = was, false
						m.handOff(&is, heir, 1)
					}
					check(was, is, real.Epoch, yes, "G", call, real.Owner(heir))
				}
			}
			if was != (Node{}) && !was.Live {
				// The caller itself waits, beside the owner heir. If the caller's ticket is later than the heir's
				// ticket, the heir is next. Otherwise the caller is next.
				for _, ticket := range []int64{real.Ticket + 1, real.Ticket - 1} {
					is := was
					yes := m.acquire(&is, 1, stamp, 0) != refused
					if yes && ticket > real.Ticket {
						is, yes = was, false
						m.handOff(&is, heir, 1)
					}
					check(was, is, real.Epoch, yes, "G", nodescript.QueueCall(real.Lock, owner, micros(stamp), ttl, ticket), real.Owner(heir))
				}
			}
			is := was
			yes := m.extend(&is, 1, stamp) != refused
			check(was, is, real.Epoch, yes, "ER",
				nodescript.ExtendCall(real.Lock, owner, micros(stamp), real.Epoch, real.Epoch, ttl, real.Window))
			check(was, is, real.Epoch, yes, "ER",
				nodescript.ExtendCall(real.Lock, owner, micros(stamp), real.Epoch, real.Epoch, ttl, real.Window), real.Owner(heir))
			for _, behind := range []bool{false, true} {
				now := int64(real.Epoch)
				if behind {
					now -= time.Hour.Microseconds()
				}
				for _, lease := range []bool{false, true} {
					is, call := was, nodescript.AbortCall
					if lease {
						call = nodescript.ReleaseCall
					}
					m.release(&is, 1, stamp, lease, behind)
					if is.Seen == 0 || behind && is.Leased != was.Leased && was.Token == 0 {
						continue // the limit is a time for which the model has no number
					}
					mine := was.Owner == 1 && was.Token <= stamp
					check(was, is, now, mine, "D", call(real.Lock, owner, micros(stamp)))
					if mine {
						m.handOff(&is, heir, 0)
					}
					check(was, is, now, mine, "D", call(real.Lock, owner, micros(stamp)), real.Owner(heir))
				}
			}
		}
	}
	return said
}

// heir is C. It is the waiter if there is one, and hears of hand-offs.
const heir = 3

// records returns all records that a node can have of no owner, of A and of B.
func records() (all []Node) {
	all = append(all, Node{})
	for seen := uint8(1); seen <= 7; seen++ {
		for _, leased := range []uint8{0, seen / 2, seen} {
			all = append(all, Node{Seen: seen, Leased: leased})
			for owner := uint8(1); owner <= 2; owner++ {
				for token := uint8(0); 2*token <= seen; token++ {
					for _, live := range []bool{false, true} {
						if token > 0 || live {
							all = append(all, Node{Owner: owner, Token: token, Live: live, Seen: seen, Leased: leased})
						}
					}
				}
			}
		}
	}
	return all
}
