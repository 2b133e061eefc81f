package waiting

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// A node that was away for most of the TTL must free the name when it is back, and not at the end of the TTL.
func TestWhatWasGivenUpIsFreedAlsoLateInItsTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, n := alone(t, 10*time.Second)
		lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
		if _, r := l.Wait(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: "y"}), time.Second, func(*Refusal) {}); r != nil {
			t.Fatalf("the node does not vote: %+v", r)
		}
		b := l.bid(t)
		l.Inbox.expect(b)
		b.askAll()
		synctest.Wait()
		n.cut.Store(true)
		b.giveUp() // the grant came, and no caller took it
		time.Sleep(9 * time.Second)
		n.cut.Store(false)
		time.Sleep(400 * time.Millisecond)
		r, err := nodescript.ParseRecord(text(n.Node, lock))
		if err != nil || r.Owner != "" || r.Seen <= b.machine.Stamp()-1 {
			t.Errorf("0.6 s before the TTL is over the node keeps %+v, %v", r, err)
		}
	})
}

// The holder is in no queue, even if its question arrives at a node after the other nodes have granted the name. (The
// client would answer a hand-off to the holder, but that would cost the waiters a round trip on that node.)
func TestALateAnswerLeavesNobodyInLineForWhatItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, nodes := hearing(t, func(m *nodemodel.Node) *lagging { return &lagging{Node: m} })
		for _, n := range nodes {
			n.acquire = nodescript.NewScripts(l.Fan.Set(), n.Info.Run).SHA(nodescript.Acquire)
		}
		lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
		l.taken(t, lock, 10*time.Second, func(node int) bool { return node == 0 })

		nodes[0].lag = 50 * time.Millisecond
		b := l.bid(t)
		l.Inbox.expect(b)
		b.askAll()
		time.Sleep(10 * time.Millisecond)
		if _, r := b.outcome(false); r != nil {
			t.Fatal("two of three did not grant it")
		}
		time.Sleep(100 * time.Millisecond)
		for _, k := range nodes[0].Keys() {
			if len(k.Waiting) > 0 {
				t.Errorf("in line for its own lock: %q", k.Waiting)
			}
		}
	})
}

// A waiter that entered the line before its client had met the nodes gets the lock by a pass, as any other waiter does.
// This also holds if its turn came before its bid was made.
func TestWhoEntersTheLineWithoutABidIsPassedTheLockWhenItHasOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := three(t, func(_ int, m *nodemodel.Node) node.Node { return m })
		want := Want{Lock: nodescript.NewExclusive(nodescript.Lock{Name: "x"})}
		l.lines.enter(want, l.bid(t), 0)
		p, _, _ := l.lines.enter(want, nil, 0)
		l.lines.leave("x", opening{}, true, func() (*Refusal, clock.Instant) { return bid.Refuse(nil, nil, true), 0 }) // the first waiter has the lock now
		b := l.bid(t)
		l.lines.gets(p, b)
		if passed, _ := l.lines.pass("x", bid.Passed{Owner: "holder", Over: l.Fan.Now().Add(time.Second)}, false, false); !passed {
			t.Error("the lock was not passed to the first in line")
		}
		b.giveUp()
	})
}

// text returns the record of a lock.
func text(n *nodemodel.Node, l *nodescript.Exclusive) string {
	for _, k := range n.Keys() {
		if k.Name == nodescript.RecordKey(l.Name()) {
			return k.Text
		}
	}
	return ""
}

// The winner leaves the queue of a node that did not grant, even if it cannot reach the node at that time. In that case
// it never learns whether its question arrived, and the lease may already be released when the node is back.
func TestWhoWonLeavesAlsoTheQueueOfANodeThatIsAway(t *testing.T) {
	for _, c := range []struct {
		what  string
		heard bool // the node answered, and then went away
		late  time.Duration
		ended bool // the lease had ended when the client gave up waiting for the answer
	}{
		{what: "after its answer", heard: true},
		{what: "when it answers"},
		{what: "when it answers, too late for the bid", late: 50 * time.Millisecond},
		{what: "when it answers, too late for the lease", late: 50 * time.Millisecond, ended: true},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, nodes := hearing(t, func(m *nodemodel.Node) *away { return &away{Node: m} })
				lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
				l.taken(t, lock, 10*time.Second, func(node int) bool { return node == 0 })

				nodes[0].unheard.Store(!c.heard)
				nodes[0].slow = c.late
				b := l.bid(t)
				l.Inbox.expect(b)
				b.askAll()
				synctest.Wait()
				if nodes[0].cut.Load() != (!c.heard && c.late == 0) || len(nodes[0].queued()) == 0 {
					t.Fatal("the test does not show what it should")
				}
				if c.heard {
					nodes[0].cut.Store(true)
				}
				g, r := b.outcome(false)
				if r != nil {
					t.Fatalf("two of three did not grant it: %+v", r)
				}
				if c.ended {
					g.End()
				}
				time.Sleep(20 * time.Second) // longer than the lease
				nodes[0].cut.Store(false)
				time.Sleep(2 * time.Second)
				if q := nodes[0].queued(); len(q) > 0 {
					t.Errorf("who won 22 s ago is still in line: %q", q)
				}
			})
		})
	}
}
