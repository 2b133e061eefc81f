package waiting

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// opened returns a gate for nodes that answer at once.
func opened() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func newBusy(m *nodemodel.Node) *busy { return &busy{Node: m, free: opened()} }

// told returns the pipelines that name an owner with this label.
func (n *busy) told(label string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(n.pieces), func(p string) bool { return !strings.Contains(p, label) })
}

// A client declines a hand-off to an owner without a bid, except if that could do harm.
func TestWhatIsHandedToNobodyIsDeclined(t *testing.T) {
	own := func(l *Locker, b *bidder) string {
		return nodescript.NewOwner("gone", l.Inbox.client, b.ticket(), []byte("over"))
	}
	for _, c := range []struct {
		name  string
		owner func(l *Locker, b *bidder) string
		given func(l *Locker, b *bidder, owner string)
		want  string // the pipeline that goes to the node; "": nothing is declined
	}{
		{"a bid that is over", own, func(*Locker, *bidder, string) {}, "gone"},
		{"another client's", func(_ *Locker, b *bidder) string { return nodescript.NewOwner("gone", "other", b.ticket(), nil) },
			func(*Locker, *bidder, string) {}, ""},
		{"nobody's", func(l *Locker, _ *bidder) string { return "gone~" + l.Inbox.client + "~over" }, func(*Locker, *bidder, string) {}, ""},
		{"who has just won", own, func(l *Locker, _ *bidder, owner string) { l.Inbox.past.Won(owner, l.Fan.Now()) }, ""},
		{"who won a while ago", own, func(l *Locker, _ *bidder, owner string) {
			l.Inbox.past.Won(owner, l.Fan.Now())
			time.Sleep(nodescript.Claim + time.Millisecond)
		}, "gone"},
		{"a wait between two bids", own, func(l *Locker, b *bidder, _ string) { l.Inbox.waitContinues(b.ticket()) }, ""},
		{"a wait that ended", own, func(l *Locker, b *bidder, _ string) {
			l.Inbox.waitContinues(b.ticket())
			l.Inbox.waitEnded(b.ticket())
		}, "gone"},
		{"a wait that goes on under another owner", own, func(l *Locker, b *bidder, _ string) {
			l.Inbox.waitContinues(b.ticket())
			l.Inbox.expect(b)
		}, "label gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, nodes := hearing(t, newBusy)
				b := l.bid(t)
				owner := c.owner(l, b)
				c.given(l, b, owner)
				l.Inbox.received(1, nodescript.Handoff{Owner: owner, Seen: 1, Lock: b.lock.(*nodescript.Exclusive).Lock()}.String())
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
				for i, n := range nodes {
					declined := n.told("gone")
					if want := c.want; i == 1 && want != "" {
						if !slices.Equal(declined, []string{want}) {
							t.Errorf("the node was told %q, want %q", declined, want)
						}
					} else if len(declined) > 0 {
						t.Errorf("node %d was told %q", i, declined)
					}
				}
				b.giveUp()
			})
		})
	}
}

// A hand-off between two bids of a wait keeps its place until the next bid. The next bid is hurried, and answers the
// hand-off. If there is no next bid, the end of the wait answers it.
func TestWhatIsHandedBetweenTwoBidsIsDeclinedByTheNext(t *testing.T) {
	for want, goesOn := range map[string]func(l *Locker, b *bidder){
		"label gone": func(l *Locker, b *bidder) { l.Inbox.expect(b) },
		"gone":       func(l *Locker, b *bidder) { l.Inbox.waitEnded(b.ticket()) },
		"": func(l *Locker, b *bidder) { // this bid is over too, so the hand-off is kept for the next bid
			b.giveUp()
			l.Inbox.expect(b)
		},
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, nodes := hearing(t, newBusy)
				b := l.bid(t)
				told := func() []string {
					time.Sleep(100 * time.Millisecond)
					synctest.Wait()
					return nodes[1].told("gone")
				}
				hurry := l.Inbox.waitContinues(b.ticket())
				earlier := nodescript.NewOwner("gone", l.Inbox.client, b.ticket(), []byte("over"))
				l.Inbox.received(1, nodescript.Handoff{Owner: earlier, Seen: 1, Lock: b.lock.(*nodescript.Exclusive).Lock()}.String())
				if pieces := told(); len(pieces) > 0 {
					t.Errorf("the node was told %q before the next bid", pieces)
				}
				select {
				case <-hurry:
				default:
					t.Error("the next bid is not hurried")
				}
				goesOn(l, b)
				if pieces := told(); strings.Join(pieces, ",") != want {
					t.Errorf("the node was told %q, want %q", pieces, want)
				}
				if want == "" && len(hurry) == 0 {
					t.Error("another bid is not hurried")
				}
				b.giveUp()
			})
		})
	}
}

// The inbox would decline the turn of a bid that it does not expect yet. So the first question of such a bid joins no
// queue while the inbox opens for another waiter.
func TestWhoIsNotExpectedStandsInNoQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var models []*nodemodel.Node
		l := three(t, func(_ int, m *nodemodel.Node) node.Node {
			models = append(models, m)
			return m
		})
		l.Fan.AskVotes(t.Context())
		l.Inbox.mu.Lock()
		l.Inbox.up[0], l.Inbox.up[1] = true, true // as if the third node were down
		l.Inbox.mu.Unlock()
		b := l.bid(t)
		stamp, _, err := l.Fan.Stamp()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range models {
			m.EvalSHA(t.Context(), []node.Call{callOf(l, m, nodescript.AcquireCall(b.lock.(*nodescript.Exclusive).Lock(), "holder~other~1-x", stamp, time.Second))})
		}
		standing := func() (n int) {
			for _, m := range models {
				for _, k := range m.Keys() {
					if len(k.Waiting) > 0 {
						n++
					}
				}
			}
			return n
		}
		b.begin(0)
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if n := standing(); n > 0 {
			t.Errorf("it stands in %d queues, and would decline what it is handed", n)
		}
		l.Inbox.expect(b)
		b.askAll()
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if n := standing(); n != 2 {
			t.Errorf("it stands in %d queues, want those of the two nodes that it hears", n)
		}
		b.giveUp()
	})
}

// callOf returns a call as a node gets it.
func callOf(l *Locker, m *nodemodel.Node, c nodescript.Call) node.Call {
	return node.Call{SHA: nodescript.NewScripts(l.Fan.Set(), m.Info.Run).SHA(c.Op), Keys: c.Keys, Args: c.Args}
}
