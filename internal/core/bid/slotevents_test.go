package bid

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// A bid whose round failed on full nodes asks for the slot that a hand-off names. It ignores a slot that it does not
// use.
func TestAHandOffNamesTheSlotToAskFor(t *testing.T) {
	for slot, want := range map[int]int16{3: 3, 4: 0} {
		m, stamp := slotBid(50), int64(100)
		first, _ := asks(t, m, m.Begin(1), &stamp)
		for node := range 3 {
			m.Answered(2, node, int(first.Tag), full())
		}
		m.Offered(1, slot)
		next, _ := asks(t, m, m.Handed(3, 1), &stamp)
		if next == nil || next.To != One(1) || next.Slot != want {
			t.Errorf("after a hand-off of slot %d the bid asks %+v, want node 1 for slot %d", slot, next, want)
		}
	}
}

// A node does not look for another slot if the record of the present one is corrupt, so the bid tries the next slot.
func TestABidLeavesACorruptSlot(t *testing.T) {
	for _, broken := range []nodescript.Answer{
		{Verdict: nodescript.Corrupt}, {Verdict: nodescript.Failed, Cause: nodescript.WrongType},
	} {
		m, stamp := slotBid(50), int64(100)
		first, _ := asks(t, m, m.Begin(1), &stamp)
		m.Answered(2, 0, int(first.Tag), broken)
		next, _ := asks(t, m, m.Answered(3, 1, int(first.Tag), broken), &stamp)
		if next == nil || next.Slot != 1 {
			t.Errorf("after %v the bid asks %+v, want slot 1", broken.Verdict, next)
		}
	}
}

// A bid that takes over a passed lease asks for the slot of that lease.
func TestAPassNamesTheSlot(t *testing.T) {
	m, stamp := slotBid(50), int64(100)
	first, _ := asks(t, m, m.Begin(1), &stamp)
	for node := range 3 {
		m.Answered(2, node, int(first.Tag), full())
	}
	asked, _ := asks(t, m, m.Passed(Passed{Owner: nodescript.NewOwner("me", "c", 10, []byte("s")), Slot: 2}), &stamp)
	if asked == nil || asked.Do != Pass || asked.Slot != 2 || m.From() != 0 {
		t.Errorf("asked %+v after slot %d, want a pass of slot 2", asked, m.From())
	}
}

// A bid that takes over the lease of a slot hears that a node has reserved another slot for it, and asks for that one.
// Then it replaces the old owner on no node, so it releases the old owner on all of them.
func TestABidThatTakesAnotherSlotReleasesThePassedLease(t *testing.T) {
	m, stamp := slotBid(50), int64(100)
	first, _ := asks(t, m, m.Begin(1), &stamp)
	for node := range 3 {
		m.Answered(2, node, int(first.Tag), full())
	}
	asks(t, m, m.Passed(Passed{Owner: "old", Highest: 90, Slot: 2}), &stamp)
	m.Offered(1, 3)
	for _, a := range m.Handed(3, 1) {
		if a.Do != Draw {
			t.Fatalf("%+v; want that the bid draws a stamp", a)
		}
	}
	released := Nodes(0)
	for _, a := range m.Stamped(200, 200, nil) {
		switch {
		case a.Do == Pass, a.Do == Queue && a.Slot != 3:
			t.Errorf("%+v; want a question for slot 3", a)
		case a.Do == Release && a.Owner == "old" && a.Slot == 2 && a.Stamp == 90:
			released |= a.To
		}
	}
	if released != Every || m.Passing() {
		t.Errorf("the passed lease is released on the nodes %#x, and is still being passed: %t", released, m.Passing())
	}
}

// A late question for an earlier slot may join a queue. A bid that has won leaves that queue. A bid that failed sends
// its release again. If the question did not join a queue, a winner sends nothing.
func TestALateQuestionForAnEarlierSlotLeavesNoPlace(t *testing.T) {
	placed := full()
	placed.Rank = 0
	for _, c := range []struct {
		name string
		won  bool
		late nodescript.Answer
		want Do
	}{
		{"won", true, placed, Quit},
		{"won, and the question joined no queue", true, grants, Wake},
		{"failed", false, placed, Abort},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, stamp := slotBid(50), int64(100)
			first, _ := asks(t, m, m.Begin(1), &stamp)
			m.Answered(2, 0, int(first.Tag), offers(1))
			next, _ := asks(t, m, m.Answered(3, 1, int(first.Tag), offers(1)), &stamp)
			if c.won {
				m.Answered(4, 0, int(next.Tag), grants)
				m.Answered(5, 1, int(next.Tag), grants)
				if l, r, _ := m.Outcome(6, false); r != nil || l.Slot != 1 {
					t.Fatalf("%+v, %+v; want slot 1", l, r)
				}
			} else {
				m.End(6, false)
			}
			got := m.Answered(7, 2, int(first.Tag), c.late)
			if len(got) == 0 || got[0].Do != c.want || c.want != Wake && got[0].To != One(2) {
				t.Errorf("%+v, want action %d for node 2", got, c.want)
			}
		})
	}
}

// The late question for an earlier slot may join the queue of a node that then grants the present slot. The winner
// leaves that queue, too.
func TestAWinnerLeavesTheQueueOfANodeThatGranted(t *testing.T) {
	placed := full()
	placed.Rank = 0
	m, stamp := slotBid(50), int64(100)
	first, _ := asks(t, m, m.Begin(1), &stamp)
	m.Answered(2, 0, int(first.Tag), offers(1))
	next, _ := asks(t, m, m.Answered(3, 1, int(first.Tag), offers(1)), &stamp)
	m.Answered(4, 2, int(first.Tag), placed)
	m.Answered(5, 2, int(next.Tag), grants)
	m.Answered(6, 1, int(next.Tag), grants)
	l, r, actions := m.Outcome(7, false)
	if r != nil || l.By != One(1)|One(2) {
		t.Fatalf("%+v, %+v; want a lease by nodes 1 and 2", l, r)
	}
	for _, a := range actions {
		if a.Do == Quit && a.To == One(2) {
			return
		}
	}
	t.Errorf("%+v: the winner stays in the queue of node 2", actions)
}

// A bid for a lock has no slot, and moves from none.
func TestABidForALockHasNoSlot(t *testing.T) {
	s := tell(t, `
		join            : queue 012 s1
		01 granted      : wake`)
	if s.m.Slot() != 0 || s.m.From() != -1 || !s.m.Won() {
		t.Errorf("slot %d, from %d, won %t", s.m.Slot(), s.m.From(), s.m.Won())
	}
	s.m.Offered(0, 1) // has no effect
	if l, _, _ := s.m.Outcome(clock.Instant(s.now), false); l.Slot != 0 {
		t.Errorf("a lease of slot %d", l.Slot)
	}
}
