package waiting

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// Who does not hear a node, and is refused by another, can be handed no majority: of two such that had a part each
// neither saw the other, and the third node went round among those who came later.
func TestWhoCanComeToNoMajorityGivesBackWhatOthersWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApart(t, 1)
		a.nodes[2].Del(nodescript.GuardKey)
		a.other(time.Hour, 1)
		a.waits(func() {
			mine := a.holder(0)
			time.Sleep(2 * askEvery)
			if mine == "" || a.holder(0) != mine {
				t.Fatal("it does not keep what nobody waits for")
			}
			a.queued(0)
			late := time.Now().Add(4 * askEvery)
			for a.holder(0) == mine {
				if time.Now().After(late) {
					t.Fatalf("%s later it still keeps what somebody waits for", 4*askEvery)
				}
				time.Sleep(time.Millisecond)
			}
		})
	})
}

// The oldest has a part, and does not hear for a moment the node that a younger one has, who gives way to it.
func TestASubscriptionThatBreaksForAMomentCostsNoPart(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			a := newApart(t)
			a.nodes[2].Del(nodescript.GuardKey)
			a.other(time.Hour, 1)
			a.waits(func() {
				mine := a.holder(0)
				a.queued(0)
				time.Sleep(4 * askEvery)
				for _, heard := range []bool{false, true} {
					a.l.Inbox.mu.Lock()
					a.l.Inbox.up[1] = heard
					a.l.Inbox.mu.Unlock()
					for end := time.Now().Add(askEvery); time.Now().Before(end); time.Sleep(time.Millisecond) {
						if has := a.holder(0); has != mine {
							t.Fatalf("it heard a node again, or was about to, and its part is %q's", has)
						}
					}
				}
			})
		})
	}
}

// Somebody younger has a majority, the nodes of which two others do not hear: the third is not to go to and fro between them.
func TestTwoThatAreHopelessDoNotSwapForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, models := voting(0, 0, 0)
		a := &apart{t: t, lock: nodescript.Lock{Name: "x", Private: true}}
		var clients []*Locker
		for range 3 {
			var nodes []node.Node
			a.nodes = nil
			for i, m := range models {
				a.nodes = append(a.nodes, &away{Node: m, deaf: i > 0})
				nodes = append(nodes, a.nodes[i])
			}
			a.l = met(t, locker(t, set, askEvery/10, nodes...))
			a.l.Inbox.open(t.Context())
			a.l.Fan.Hail(t.Context())
			clients = append(clients, a.l)
		}
		a.born = a.l.Fan.StampAt(a.l.Fan.Now())
		owner := a.other(time.Hour, 1, 2)
		for _, l := range clients[:2] {
			defer l.waits(t, a.lock, 10*time.Second)()
			time.Sleep(10 * time.Millisecond)
		}
		moves, last := 0, a.holder(0)
		for range 10 {
			stamp, _, err := a.l.Fan.Stamp()
			if err != nil {
				t.Fatal(err)
			}
			a.l.Fan.Send(&fanout.Message{Call: nodescript.AcquireCall(a.lock, owner, stamp, 10*time.Second)}, func(n int) bool { return n > 0 })
			for end := time.Now().Add(3 * askEvery); time.Now().Before(end); time.Sleep(time.Millisecond) {
				if has := a.holder(0); has != last && has != "" {
					moves, last = moves+1, has
				}
			}
		}
		// Each gives it back twice before it leaves it out, for half of MaxTTL.
		if most := 9; moves > most {
			t.Errorf("in half a minute the part changed hands %d times, want at most %d", moves, most)
		}
	})
}

// What the other nodes said decides whether a part is kept that somebody else waits for.
func TestAPartIsHopelessWhereNothingCanComeToIt(t *testing.T) {
	granted, waited := nodescript.Answer{Verdict: nodescript.Granted}, nodescript.Answer{Verdict: nodescript.Granted, Waiting: true}
	held, queued := nodescript.Answer{Verdict: nodescript.Held, Owner: "o", Rank: -1}, nodescript.Answer{Verdict: nodescript.Held, Owner: "o", Rank: 1}
	foreign, off := nodescript.Answer{Verdict: nodescript.Held, Owner: "o", Rank: -1, Foreign: true}, nodescript.Answer{Verdict: nodescript.OffClock}
	claimed := nodescript.Answer{Verdict: nodescript.Held, Claim: true, Rank: -1} // by the bid itself
	silent := nodescript.Answer{Verdict: nodescript.Failed, Err: errors.New("connection lost")}
	stale, none := nodescript.Answer{Verdict: nodescript.Stale}, nodescript.Answer{}
	for _, c := range []struct {
		what    string
		deaf    bool
		answers []nodescript.Answer
		is      bool
	}{
		{"one is held and not heard, one refuses", false, []nodescript.Answer{waited, held, off}, true},
		{"nobody waits for the part", false, []nodescript.Answer{granted, held, off}, false},
		{"nobody has another", false, []nodescript.Answer{waited, off, off}, false},
		{"a foreigner has it", false, []nodescript.Answer{waited, foreign, off}, false},
		{"it stands in line", false, []nodescript.Answer{waited, queued, off}, false},
		{"it was handed over", false, []nodescript.Answer{waited, held, claimed}, false},
		{"one did not answer, and is heard", false, []nodescript.Answer{waited, held, silent}, false},
		{"one did not answer, and is not heard", true, []nodescript.Answer{waited, held, silent}, true},
		{"one has not answered yet, or is left out", true, []nodescript.Answer{waited, held, none}, false},
		{"one is free for the next stamp", true, []nodescript.Answer{waited, held, stale}, false},
		{"three of five can come", false, []nodescript.Answer{waited, granted, queued, held, off}, false},
		{"two of five can come", false, []nodescript.Answer{waited, granted, held, held, off}, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set, models := voting(make([]time.Duration, len(c.answers))...)
				var nodes []node.Node
				for _, m := range models {
					nodes = append(nodes, &away{Node: m, deaf: c.deaf})
				}
				l := met(t, locker(t, set, time.Second, nodes...))
				l.Inbox.open(t.Context())
				b := l.bid(t)
				l.Inbox.expect(b)
				tag := b.votes.Begin(false)
				for i, a := range c.answers {
					b.votes.Ask(i)
					if a.Claim {
						a.Owner = b.owner
					}
					if a.Verdict != nodescript.Unanswered {
						b.votes.Answer(i, tag, a)
					}
				}
				b.mu.Lock()
				defer b.mu.Unlock()
				if is := b.hopeless(); is != c.is {
					t.Errorf("hopeless: %t, want %t", is, c.is)
				}
			})
		})
	}
}
