package bid

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// slotBid is a bid for one of four slots of a semaphore on three nodes.
func slotBid(ticket int64) *Machine {
	m := New(Config{
		N: 3, Window: 250 * time.Millisecond, MaxTTL: 10 * time.Second, TTL: 10 * time.Second, Ticket: ticket, Slots: 4,
		Owner: nodescript.NewOwner("me", "c", 50, []byte("r")),
	})
	return &m
}

// full, offers and grants are answers to a question for a slot. The owner that has it came before the bid.
func offers(slot int) nodescript.Answer {
	return nodescript.Answer{Verdict: nodescript.Held, Rank: -1, Offered: true, Slot: slot, Owner: nodescript.NewOwner("older", "d", 10, []byte("r"))}
}

func full() nodescript.Answer {
	return nodescript.Answer{Verdict: nodescript.Held, Rank: -1, Full: true, Owner: nodescript.NewOwner("older", "d", 10, []byte("r"))}
}

var grants = nodescript.Answer{Verdict: nodescript.Granted}

// asks runs the actions of an event up to the next question, and returns the question and what was given back by a
// move.
func asks(t *testing.T, m *Machine, actions []Action, stamp *int64) (asked, moved *Action) {
	t.Helper()
	for i := 0; i < len(actions); i++ {
		switch a := actions[i]; a.Do {
		case Draw:
			*stamp++
			return asks(t, m, m.Stamped(*stamp, clock.Instant(*stamp), nil), stamp)
		case Acquire, Queue, Pass:
			asked = &a
		case Move:
			moved = &a
		}
	}
	return asked, moved
}

// A bid whose slot is taken asks for the slot that most nodes have for it, and gives its partial grant back.
func TestABidMovesToTheSlotOfMostNodes(t *testing.T) {
	m, stamp := slotBid(0), int64(100)
	first, _ := asks(t, m, m.Begin(1), &stamp)
	m.Answered(2, 0, int(first.Tag), grants)
	m.Answered(3, 1, int(first.Tag), offers(2))
	next, moved := asks(t, m, m.Answered(4, 2, int(first.Tag), offers(2)), &stamp)
	if next == nil || next.Slot != 2 || m.From() != 0 {
		t.Fatalf("asked %+v, want slot 2", next)
	}
	if moved == nil || moved.Slot != 0 || !moved.To.Has(0) || moved.Stamp != first.Stamp {
		t.Errorf("gave back %+v, want the grant of slot 0", moved)
	}
	m.Answered(5, 0, int(next.Tag), grants)
	m.Answered(6, 1, int(next.Tag), grants)
	if l, r, _ := m.Outcome(7, false); r != nil || l.Slot != 2 || l.Token != next.Stamp {
		t.Errorf("%+v, %+v; want a lease of slot 2", l, r)
	}
}

// A grant of the slot that the bid has left does not count for the slot that it moved to.
func TestGrantsOfDifferentSlotsDoNotCountTogether(t *testing.T) {
	m, stamp := slotBid(0), int64(100)
	first, _ := asks(t, m, m.Begin(1), &stamp)
	m.Answered(2, 0, int(first.Tag), offers(1))
	next, _ := asks(t, m, m.Answered(3, 1, int(first.Tag), offers(1)), &stamp)
	m.Answered(4, 0, int(next.Tag), grants)
	m.Answered(5, 2, int(first.Tag), grants) // late, for slot 0
	if _, r, _ := m.Outcome(6, false); r == nil {
		t.Error("a grant of slot 0 and one of slot 1 made a lease")
	}
}

// If two bids have a grant of the same slot each, the older one stays and the younger one moves.
func TestTheYoungerBidMoves(t *testing.T) {
	for _, c := range []struct {
		other string // the owner that has the slot on node 1
		want  int
	}{{nodescript.NewOwner("older", "d", 10, []byte("r")), 3}, {nodescript.NewOwner("younger", "d", 90, []byte("r")), 0}} {
		m, stamp := slotBid(50), int64(100)
		first, _ := asks(t, m, m.Begin(1), &stamp)
		m.Answered(2, 0, int(first.Tag), grants)
		m.Answered(3, 2, int(first.Tag), nodescript.Answer{Verdict: nodescript.Failed})
		held := offers(3)
		held.Owner = c.other
		asks(t, m, m.Answered(4, 1, int(first.Tag), held), &stamp)
		if m.Slot() != c.want {
			t.Errorf("beside %s the bid asks for slot %d, want %d", c.other, m.Slot(), c.want)
		}
	}
}

// If a majority of the nodes has no slot, the semaphore is held. Otherwise bids only get in each other's way.
func TestASemaphoreIsHeldIfAMajorityIsFull(t *testing.T) {
	for _, c := range []struct {
		answers [3]nodescript.Answer
		want    Kind
	}{
		{[3]nodescript.Answer{full(), full(), offers(1)}, Held},
		{[3]nodescript.Answer{full(), offers(1), offers(2)}, Contended},
		{[3]nodescript.Answer{full(), full(), full()}, Held},
	} {
		if r := Refuse(c.answers[:], nil, false); r.Kind != c.want {
			t.Errorf("%+v is of kind %d, want %d", c.answers, r.Kind, c.want)
		}
	}
}

// A round fails as soon as it cannot win. An answer that comes after that may show a better slot: the bid asks for it
// at once, and not with its next question.
func TestALateAnswerMovesABid(t *testing.T) {
	m, stamp := slotBid(50), int64(100)
	first, _ := asks(t, m, m.Begin(1), &stamp)
	m.Answered(2, 0, int(first.Tag), full())
	m.Answered(3, 1, int(first.Tag), full()) // failed
	next, _ := asks(t, m, m.Answered(4, 2, int(first.Tag), offers(2)), &stamp)
	if next == nil || next.Slot != 2 {
		t.Errorf("asked %+v, want slot 2", next)
	}
}

// A late answer that moves a bid is often the last one of its round. Draw must still be the last action of the event:
// Stamped reuses the memory of the actions, so a caller that goes on after Draw carries out actions of the next event
// twice. It would ask every node twice, and then the bid would count an answer that is missing as one that came.
func TestALateAnswerThatMovesABidAsksOnce(t *testing.T) {
	m, stamp := slotBid(50), int64(100)
	first, _ := asks(t, m, m.Begin(1), &stamp)
	m.Answered(2, 0, int(first.Tag), full())
	m.Answered(3, 1, int(first.Tag), full()) // failed
	questions := 0
	var do func(actions []Action) // as package waiting does
	do = func(actions []Action) {
		for i := range actions {
			switch a := &actions[i]; a.Do {
			case Draw:
				if i != len(actions)-1 {
					t.Errorf("%d actions follow Draw", len(actions)-1-i)
				}
				stamp++
				do(m.Stamped(stamp, clock.Instant(stamp), nil))
			case Acquire, Queue:
				questions++
			}
		}
	}
	do(m.Answered(4, 2, int(first.Tag), offers(2)))
	if questions != 1 {
		t.Errorf("each node is asked %d times for slot %d", questions, m.Slot())
	}
}

// A lease of a slot passes only to a bid that uses this slot.
func TestASlotThatABidDoesNotUseIsNotPassedToIt(t *testing.T) {
	for slot, want := range map[int16]bool{3: true, 4: false} {
		m, stamp := slotBid(50), int64(100)
		asks(t, m, m.Begin(1), &stamp)
		for node := range 3 {
			m.Answered(2, node, 1, full())
		}
		out := m.Passed(Passed{Owner: nodescript.NewOwner("me", "c", 10, []byte("s")), Slot: slot})
		if got := len(out) > 0; got != want {
			t.Errorf("a bid for 4 slots took a pass of slot %d: %v, want %v", slot, got, want)
		}
	}
}
