package sim

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// No simulated world has the mistakes of these cases, so these tests call the judges directly: see
// TestTheWitnessBelievesItsEyes.

// A holder that loads another value than the last one is reported.
func TestTheWitnessKnowsTheValue(t *testing.T) {
	type step struct {
		store, fails bool
		found        string // by a load; "": none
		forgets      []int
	}
	store, lost := step{store: true}, step{store: true, fails: true}
	for _, c := range []struct {
		what, says string
		steps      []step
	}{
		{"the stored value", "", []step{store, {found: "0/1"}}},
		{"an older value", "loaded value 1", []step{store, store, {found: "0/1"}}},
		{"no value after a store", "loaded value 0", []step{store, {}}},
		{"a value whose store failed", "", []step{store, lost, {found: "0/2"}}},
		{"a value that was seen and is unseen", "loaded value 1", []step{store, lost, {found: "0/2"}, {found: "0/1"}}},
		{"a value that was passed over", "loaded value 2", []step{store, lost, {found: "0/1"}, {found: "0/2"}}},
		{"a value from nowhere", "nobody stored", []step{store, {found: "0/2"}}},
		{"another name's value", "nobody stored", []step{store, {found: "1/1"}}},
		{"garbage", "nobody stored", []step{store, {found: "x"}}},
		{"no value after a minority forgot", "loaded value 0", []step{store, {forgets: []int{1}}}},
		{"no value after a majority forgot", "", []step{store, {forgets: []int{1, 2}}}},
		{"no value after a majority forgot, and a store", "loaded value 0", []step{store, {forgets: []int{1, 2}, store: true}, {}}},
		{"a minority forgot in each of two uses", "loaded value 0", []step{store, {forgets: []int{1}, store: true}, {forgets: []int{2}}}},
	} {
		w := &world{plan: &Plan{N: 3, Names: []string{"x"}}, start: time.Now(), names: []*name{{}}}
		l := &held{h: &host{w: w}}
		for _, s := range c.steps {
			for _, node := range s.forgets {
				w.names[0].value.noteLoss(node, 3)
			}
			text, use := w.beginsUse(0, s.store)
			switch {
			case s.fails:
				w.valueFailed(l, false, holdfast.ErrUnavailable)
			case s.store:
				w.stored(l, text, use)
			case s.found == "":
				w.loaded(l, nil, use)
			default:
				w.loaded(l, []byte(s.found), use)
			}
		}
		reports(t, c.what, w, c.says)
	}
	w := &world{plan: &Plan{N: 3, Names: []string{"x"}}, start: time.Now(), names: []*name{{}}}
	w.valueFailed(&held{h: &host{w: w}}, false, errors.New("never seen"))
	reports(t, "an unknown error", w, "error of no kind")
}

// reports checks what the judges of a world said; "" is nothing.
func reports(t *testing.T, what string, w *world, says string) {
	t.Helper()
	if all := strings.Join(w.result.Violations, "\n"); (all == "") != (says == "") || !strings.Contains(all, says) {
		t.Errorf("%s: the judges said %q; want %q", what, all, says)
	}
}

// An observer that goes back to an earlier term, or sees another term without a vacancy, is reported.
func TestTheWitnessWatchesObservers(t *testing.T) {
	term := func(n int64, value string) election.News {
		o := election.News{Leader: election.Leader{Owner: "a~b~c", Term: n}}
		if value != "" {
			o.Value = []byte(value)
		}
		return o
	}
	vacancy, outage := election.News{}, election.News{Err: holdfast.ErrUnavailable}
	for _, c := range []struct {
		what, says string
		sees       []election.News
	}{
		{"two terms", "", []election.News{term(1, ""), vacancy, term(2, "2")}},
		{"an outage in a term", "", []election.News{term(1, ""), outage, term(1, "1")}},
		{"an earlier term", "term 1 of name0 after term 2", []election.News{term(2, ""), vacancy, term(1, "")}},
		{"no vacancy", "no vacancy between", []election.News{term(1, ""), term(2, "")}},
		{"an outage is no vacancy", "no vacancy between", []election.News{term(1, ""), outage, term(2, "")}},
		{"a value of another term", `the value "1" in term 2`, []election.News{term(2, "1")}},
	} {
		w := &world{plan: &Plan{Names: []string{"x"}, Elected: 1}, start: time.Now(), names: []*name{{}}}
		var s sight
		for _, o := range c.sees {
			w.saw(&host{w: w}, &s, o)
		}
		reports(t, c.what, w, c.says)
	}
}

// A leader's callback whose context outlives the lease is reported.
func TestTheWitnessWatchesLeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, end := context.WithCancel(context.Background())
		end()
		for work, says := range map[context.Context]string{ended: "", context.Background(): "context of its callback has not"} {
			w := &world{plan: &Plan{Names: []string{"x"}}, start: time.Now(), names: []*name{{}}}
			w.endsWith(work, &held{h: &host{w: w}})
			reports(t, "a callback", w, says)
		}
	})
}

// UnlockAt of a reader keeps writers out, and no readers. It begins when the last handle of the lease has ended.
func TestTheWitnessKnowsNamesThatReadersLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			what, says  string
			left        []time.Duration // of each handle
			err         error           // of the last handle
			after       time.Duration
			reader, one bool // the next holder is a reader; only one handle ends
		}{
			{what: "a writer soon after", says: "UnlockAt of a reader", left: []time.Duration{time.Second}},
			{what: "a writer when the time is over", left: []time.Duration{time.Second}, after: time.Second},
			{what: "a reader soon after", left: []time.Duration{time.Second}, reader: true},
			{what: "a writer soon after two handles", says: "UnlockAt of a reader", left: []time.Duration{time.Second, 0}},
			{what: "a loss after the first of two", left: []time.Duration{time.Second, 0}, err: holdfast.ErrLost},
			{what: "the first of two handles", left: []time.Duration{time.Second, 0}, one: true},
		} {
			w := &world{plan: &Plan{Names: []string{"x"}, Clients: make([]ClientPlan, 1)}, start: time.Now(), names: []*name{{}}}
			h := &host{w: w, uses: make([]use, 1), owners: map[string]*bid{"a~b~c~r": {}}}
			ended, end := context.WithCancel(context.Background())
			late := time.Now().Add(time.Hour)
			var all []*held
			for i := range c.left {
				lease := said{ctx: ended, deadline: late, token: 1, reader: true}
				all = append(all, w.granted(w.asks(h, &Actor{ID: i}, Op{Shared: true}, 0), lease, time.Second))
			}
			end()
			w.mu.Lock()
			for i, l := range all {
				if l.given = w.now(); !c.one || i == 0 {
					var err error
					if i == len(all)-1 {
						err = c.err
					}
					w.readerLeaves(l, c.left[i], err)
				}
			}
			w.mu.Unlock()
			time.Sleep(c.after)
			next := &host{w: w, uses: make([]use, 1), owners: map[string]*bid{}}
			w.granted(w.asks(next, &Actor{ID: 9}, Op{Shared: c.reader}, 0), said{ctx: ended, deadline: late, token: 2, reader: c.reader}, time.Second)
			reports(t, c.what, w, c.says)
		}
	})
}

// A node that has the lease of an earlier owner is an excuse only if a fault kept the owner's release from this node.
func TestOnlyALostReleaseExcusesAnEarlierLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			what  string
			fault Fault
			want  bool
		}{
			{"a partition between them", Fault{Kind: Cut, Nodes: 2, Clients: 4, For: time.Minute}, true},
			{"a partition to another node", Fault{Kind: Cut, Nodes: 1, Clients: 4, For: time.Minute}, false},
			{"a partition of another client", Fault{Kind: Cut, Nodes: 2, Clients: 1, For: time.Minute}, false},
			{"a partition that ended before", Fault{Kind: Cut, Nodes: 2, Clients: 4, For: time.Second}, false},
			{"a partition that comes later", Fault{Kind: Cut, Nodes: 2, Clients: 4, At: time.Hour}, false},
			{"lost answers", Fault{Kind: CutBack, Nodes: 2, Clients: 4, For: time.Minute}, false},
			{"a crash", Fault{Kind: Crash, Clients: 4, At: 10 * time.Second}, true},
			{"a node that hangs", Fault{Kind: Hang, Nodes: 2, For: time.Minute}, false},
		} {
			w := &world{plan: &Plan{N: 3, Names: []string{"x"}, Faults: []Fault{c.fault}}, start: time.Now()}
			if got := w.separated(&host{w: w, slot: 2}, &server{w: w, index: 1}, 10*time.Second); got != c.want {
				t.Errorf("%s: %v", c.what, got)
			}
		}
	})
}

// A node that an earlier owner's lease blocks is an excuse, be that owner a writer or a reader. A reader blocks no
// reader.
func TestEarlierLeasesExcuseWhatTheyBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writer, reader = "e~e~e", "e~e~e~r"
		for _, c := range []struct {
			what, earlier string
			reads         bool  // the holder is a reader
			token         int64 // of the earlier lease; the holder has 5
			left          time.Duration
			ended, want   bool
		}{
			{"a writer", writer, false, 4, time.Second, true, true},
			{"a reader", reader, false, 4, time.Second, true, true},
			{"a writer before a reader", writer, true, 4, time.Second, true, true},
			{"a reader beside a reader", reader, true, 4, time.Second, true, false},
			{"a reader who has the name", reader, false, 4, time.Second, false, false},
			{"a reader who came later", reader, false, 6, time.Second, true, false},
			{"a reader whose lease has ended", reader, false, 4, -time.Second, true, false},
		} {
			w := &world{
				plan:  &Plan{N: 3, Window: 20 * time.Millisecond, MaxTTL: time.Second, Names: []string{"x"}, Faults: []Fault{{Kind: Cut, Nodes: 1, Clients: 1, For: time.Minute}}},
				start: time.Now(), names: []*name{{record: nodescript.RecordKey("x")}},
			}
			s := newServer(w, 0)
			key, ends := w.names[0].record, s.clock()+c.left.Microseconds()
			r := nodescript.Record{Shared: true}
			if nodescript.IsReader(c.earlier) {
				s.model.HSet(nodescript.ReadersKey(key), c.earlier, nodescript.Micros(c.token)+nodescript.Micros(ends))
			} else {
				r.Owner, r.Token, r.Expiry = c.earlier, c.token, ends
			}
			s.model.Set(key, r.String(), time.Hour)
			w.hosts = []*host{{w: w, owners: map[string]*bid{c.earlier: {ended: c.ended}}}}
			l := &held{lease: said{token: 5, reader: c.reads}}
			if got := w.blocked(l, s, w.now()); got != c.want {
				t.Errorf("%s: %v", c.what, got)
			}
		}
	})
}

// A release without an answer from a majority is reported if the client could reach nodes enough that had the lease.
func TestOnlyNodesWithTheLeaseMustHearItsRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const key = "x:holdfasta~b~c"
		for what, c := range map[string]struct {
			third func(*server)
			says  string
		}{
			"the third node heard nothing":                      {func(*server) {}, "could reach 3 nodes"},
			"the third node gave it back":                       {func(s *server) { s.back[key], s.gave[key] = 5, 5 }, "could reach 3 nodes"},
			"the third node heard the release before the lease": {func(s *server) { s.back[key] = 5 }, ""},
			"the third node lost its memory":                    {func(s *server) { s.forgot = true }, ""},
		} {
			w := &world{plan: &Plan{N: 5, Window: 20 * time.Millisecond, MaxTTL: time.Second, Names: []string{"x"}}, start: time.Now(), names: []*name{{record: "x:holdfast"}}}
			for i := range 5 {
				w.servers = append(w.servers, newServer(w, i))
				w.servers[i].up = i < 3
			}
			w.servers[0].gave[key], w.servers[1].gave[key] = 5, 5
			c.third(w.servers[2])
			w.mustHear(&held{h: &host{w: w}, lease: said{token: 5}}, Op{}, context.DeadlineExceeded)
			reports(t, what, w, c.says)
		}
	})
}

// A node is far if a grant and a renewal with it take as long as the lease is valid.
func TestOnlyALongWayExcusesALostLease(t *testing.T) {
	for _, c := range []struct {
		way, home, valid time.Duration
		want             bool
	}{
		{time.Millisecond, time.Millisecond, 10 * time.Millisecond, false},
		{time.Millisecond, 2 * time.Millisecond, 10 * time.Millisecond, true},
	} {
		if got := (&link{way: c.way, home: c.home}).isFar(c.valid); got != c.want {
			t.Errorf("%s there and %s back, valid for %s: %v", c.way, c.home, c.valid, got)
		}
	}
}

// A client quits the queues of some nodes when another majority grants the lock, and releases the lease later. A fault
// at the later time keeps the release from a node.
func TestABidIsOverAtItsLastRelease(t *testing.T) {
	b := &bid{}
	b.ends(time.Second)
	if b.ends(time.Minute); !b.ended || b.over != time.Minute {
		t.Errorf("ended %t, at %s; want a minute", b.ended, b.over)
	}
}
