package shared

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/verify/models/real"
)

// TestTheSharedModelsNodeDoesWhatTheScriptsDo runs every call on every record in both ways.
func TestTheSharedModelsNodeDoesWhatTheScriptsDo(t *testing.T) {
	if said := differs(t, None); said != "" {
		t.Error(said)
	}
}

// TestAWeakenedNodeOfTheSharedModelDiffersFromTheScripts shows that the comparison finds a weakened rule.
func TestAWeakenedNodeOfTheSharedModelDiffersFromTheScripts(t *testing.T) {
	for r := WritersSeeReaders; r <= ForgetByLease; r++ {
		if testing.Short() && r%3 != 0 {
			continue
		}
		if said := differs(t, r); said == "" {
			t.Errorf("without rule %d the model's node does what the scripts do", r)
		} else {
			t.Log(said)
		}
	}
}

// ttl is so long that no record expires by itself.
const ttl = 4 * real.Window

// stampOf returns a stamp of the model in the form of the scripts. All are inside the window.
func stampOf(stamp uint8) int64 { return real.Epoch + 1000*int64(stamp) }

// marked returns a mark, which is twice a token and may be one more.
func marked(mark uint8) int64 {
	if mark == 0 {
		return 0
	}
	return stampOf(mark/2) + int64(mark%2)
}

func tokenOf(token uint8) int64 {
	if token == 0 {
		return 0
	}
	return stampOf(token)
}

func expiryOf(live bool) int64 {
	if live {
		return real.Epoch + ttl.Microseconds()
	}
	return real.Epoch - 1
}

// ownerOf returns an owner of the model in the form of the scripts.
func (m Model) ownerOf(owner uint8) string {
	if m.reader(int(owner) - 1) {
		return real.Reader(int(owner))
	}
	return real.Owner(int(owner))
}

// stored returns a node of the model in the form of the scripts.
func (m Model) stored(n Node) (r nodescript.Record, are nodescript.Readers) {
	r = nodescript.Record{Seen: marked(n.Seen), Leased: marked(n.Leased), Token: tokenOf(n.Token)}
	if n.Owner != 0 {
		r.Owner, r.Expiry = m.ownerOf(n.Owner), expiryOf(n.Live)
	}
	are = nodescript.Readers{Seen: marked(n.RSeen), Leased: marked(n.RLeased)}
	for i, e := range n.Entries {
		if e != 0 {
			are.List = append(are.List, nodescript.Reader{Owner: m.ownerOf(uint8(i + 1)), Token: tokenOf(e.Token()), Expiry: expiryOf(n.alive(i))})
		}
	}
	r.Shared = are.Seen != 0 || are.Leased != 0 || len(are.List) > 0
	return r, are
}

// timeless returns what a node stores, without instants: the model knows only whether a grant has expired. A hash of
// readers without tokens and entries is the same as none.
func timeless(r nodescript.Record, are nodescript.Readers, now int64) string {
	live := func(expiry int64) bool { return now < expiry }
	out := fmt.Sprint(r.Seen, " ", r.Leased)
	if r.Owner != "" && (r.Token != 0 || live(r.Expiry)) {
		out += fmt.Sprint(" ", r.Owner, " ", r.Token, " ", live(r.Expiry))
	}
	out += fmt.Sprint("; ", are.Seen, " ", are.Leased)
	var list []string
	for _, one := range are.List {
		list = append(list, fmt.Sprint(one.Owner, " ", one.Token, " ", live(one.Expiry)))
	}
	slices.Sort(list)
	return out + " " + strings.Join(list, ", ")
}

// differs returns the first call whose answer or effect differs between the model without a rule and the scripts, "" if
// there is none.
func differs(t *testing.T, without Rule) (said string) {
	node := real.NewNode(t, ttl)
	var m Model
	check := func(was, is Node, now int64, yes bool, yeses string, call nodescript.Call) {
		if said != "" {
			return
		}
		r, are := m.stored(was)
		answer, gotRecord, gotReaders := node.RunShared(t, now, r, are, call)
		// The scripts drop the memory of readers as soon as a later lease covers it; see subsumed.
		wantRecord, wantReaders := m.stored(is)
		got, want := timeless(gotRecord, gotReaders, now), timeless(wantRecord, wantReaders, now)
		if got != want && !(gotReaders.Seen == 0 && len(gotReaders.List) == 0 && subsumed(wantRecord, wantReaders)) || strings.Contains(yeses, answer) != yes {
			said = fmt.Sprintf("%v on %+v: the script answers %s, the model %v; the script stores\n%s, the model\n%s", call, was, answer, yes, got, want)
		}
	}
	m = Model{Config{Writers: 2, Readers: 1, Without: without}}
	for _, was := range m.records() {
		if said != "" {
			return said
		}
		for stamp := uint8(1); stamp <= 3; stamp++ {
			is := was
			yes := m.acquire(&is, 1, stamp, 0) != refused
			check(was, is, real.Epoch, yes, "G", nodescript.AcquireCall(real.Lock, real.Owner(1), stampOf(stamp), ttl))
			is = was
			yes = m.extend(&is, 1, stamp, 3) != refused
			check(was, is, real.Epoch, yes, "ER",
				nodescript.ExtendCall(real.Lock, real.Owner(1), stampOf(stamp), real.Epoch, real.Epoch, ttl, real.Window))
			m.releases(was, 1, stamp, nodescript.ReleaseCall, nodescript.AbortCall, check)
		}
	}
	m = Model{Config{Writers: 1, Readers: 2, Without: without}}
	for _, was := range m.records() {
		if said != "" {
			return said
		}
		for stamp := uint8(1); stamp <= 3; stamp++ {
			for _, from := range []uint8{0, 1, 3} {
				is := was
				yes := m.acquireShared(&is, 2, stamp, from, false) != refused
				call := nodescript.AcquireCall(real.Lock, real.Reader(2), stampOf(stamp), ttl)
				if from != 0 {
					call = nodescript.PassCall(real.Lock, real.Reader(2), stampOf(stamp), ttl, m.ownerOf(from))
				}
				check(was, is, real.Epoch, yes, "G", call)
			}
			for token := uint8(1); token <= 3; token++ {
				if was.Entries[1].Grant() && was.Entries[1].Token() > token {
					continue // an owner's lease has its highest stamp, so no such extend is sent
				}
				is := was
				yes := m.extendShared(&is, 2, token, stamp) != refused
				check(was, is, real.Epoch, yes, "ER",
					nodescript.ExtendCall(real.Lock, real.Reader(2), stampOf(token), stampOf(stamp), real.Epoch, ttl, real.Window))
			}
			m.releases(was, 2, stamp, nodescript.ReleaseCall, nodescript.AbortCall, check)
		}
	}
	return said
}

// subsumed reports whether seen and leased are so high that the memory of readers without entries adds nothing.
func subsumed(r nodescript.Record, are nodescript.Readers) bool {
	return len(are.List) == 0 && r.Seen >= are.Seen && r.Leased >= are.Seen && r.Leased >= are.Leased
}

// releases checks releases and aborts, also where the node's clock is far behind.
func (m Model) releases(was Node, owner, stamp uint8, release, abort func(nodescript.Lock, string, int64) nodescript.Call,
	check func(was, is Node, now int64, yes bool, yeses string, call nodescript.Call)) {
	for _, behind := range []bool{false, true} {
		now := int64(real.Epoch)
		if behind {
			now -= time.Hour.Microseconds()
		}
		for _, lease := range []bool{false, true} {
			is, call, do := was, abort, m.release
			if m.reader(int(owner) - 1) {
				do = m.releaseShared
			}
			if lease {
				call = release
			}
			do(&is, owner, stamp, lease, behind)
			mine := was.Owner == owner && was.Token <= stamp
			if m.reader(int(owner) - 1) {
				mine = was.Entries[owner-1] != 0 && was.Entries[owner-1].Token() <= stamp
			}
			rest := was
			rest.Entries[owner-1] = 0
			if behind && (!mine || was.Owner != 0 || rest.Entries != [most]Entry{}) {
				// The model cannot express this case. The clock limits the tombstone to a time that is not a stamp of
				// the model. And by a clock that is behind, an expired grant is still alive.
				continue
			}
			check(was, is, now, mine, "D", call(real.Lock, m.ownerOf(owner), stampOf(stamp)))
		}
	}
}

// records returns the records that a node can have of these owners, with the tombstones and marks that matter.
func (m Model) records() (all []Node) {
	all = append(all, Node{})
	for _, seen := range []uint8{1, 2, 3, 4, 5} {
		for _, leased := range []uint8{0, seen} {
			base := Node{Seen: seen, Leased: leased}
			for owner := 1; owner <= m.Writers; owner++ { // a writer's grant, with the memory of earlier readers
				for token := uint8(1); 2*token <= seen; token++ {
					for _, live := range []bool{false, true} {
						for _, rseen := range []uint8{0, 2} {
							if n := base; rseen < 2*token {
								n.Owner, n.Token, n.Live, n.RSeen, n.RLeased = uint8(owner), token, live, rseen, rseen
								all = append(all, n)
							}
						}
					}
				}
			}
			for _, rseen := range []uint8{0, 2, 4, 6} {
				for _, rleased := range []uint8{0, rseen} {
					for claim := 0; claim <= m.Writers; claim++ {
						n := base
						n.RSeen, n.RLeased, n.Owner, n.Live = rseen, rleased, uint8(claim), claim != 0
						m.entries(n, m.Writers, &all)
					}
				}
			}
		}
	}
	return all
}

// entries adds n with every combination of entries from reader i on.
func (m Model) entries(n Node, i int, all *[]Node) {
	if i == m.owners() {
		*all = append(*all, n)
		return
	}
	m.entries(n, i+1, all)
	for token := uint8(0); 2*token <= n.RSeen; token++ {
		live := n
		live.enter(uint8(i), token)
		m.entries(live, i+1, all)
		if token > 0 {
			dead := live
			dead.Lives &^= 1 << i
			m.entries(dead, i+1, all)
		}
	}
}
