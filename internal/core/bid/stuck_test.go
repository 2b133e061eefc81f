package bid

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// driven is a machine whose questions and stamps a test answers.
type driven struct {
	*Machine
	now   clock.Instant
	stamp int64
	fails func() error // the reason why no stamp can be drawn, or nil
	asked Nodes
	asks  func(node, tag int)
}

func drive(c Config) *driven {
	c.Window, c.MaxTTL, c.Owner, c.TTL, c.Ticket = 250*time.Millisecond, 30*time.Second, "l~c~5-mine", 10*time.Second, 5
	m := New(c)
	return &driven{Machine: &m, now: clock.Instant(time.Hour), stamp: 1000, fails: func() error { return nil }, asks: func(int, int) {}}
}

func (d *driven) do(actions []Action) {
	for _, a := range append([]Action(nil), actions...) {
		switch a.Do {
		case Draw:
			d.stamp++
			d.do(d.Stamped(d.stamp, d.now, d.fails()))
		case Queue, Acquire, Pass:
			for i := range d.N {
				if a.To.Has(i) {
					d.asked = d.asked.With(i)
					d.asks(i, int(a.Tag))
				}
			}
		}
	}
}

// next does what a waiter does after it was woken, a second later.
func (d *driven) next() {
	_, actions := d.Next(d.now, time.Second, AskEvery)
	d.do(actions)
	d.now, d.asked = d.now.Add(time.Second), 0
	d.do(d.AskAgain(d.now, AskEvery))
}

func heldBy(owner string) nodescript.Answer {
	return nodescript.Answer{Verdict: nodescript.Held, Owner: owner, Left: 9 * time.Second, Rank: 0}
}

// Two nodes of three want grants back twice, so the waiter would spare both, and ask only the third one. Its answer
// decides nothing.
func TestAWaiterNeverSparesAMajority(t *testing.T) {
	d := drive(Config{N: 3})
	d.do(d.Join(d.now))
	d.do(d.Answered(d.now, 0, d.tag, nodescript.Answer{Verdict: nodescript.Granted}))
	for i := range 2 {
		d.do(d.Answered(d.now, 1+i, d.tag, heldBy("l~d~9-h1")))
	}
	for _, node := range []int{0, 0, 1, 1} {
		d.do(d.Wanted(d.now, node, d.Stamp()))
	}
	d.next()
	if d.asked != 0b111 {
		t.Errorf("asks %b; want all nodes", d.asked)
	}
}

// A round for which no stamp could be drawn makes an earlier question to one node count as a question to all nodes.
func TestALateOfferOfASlotEndsNoQuestions(t *testing.T) {
	d := drive(Config{N: 3, Slots: 3})
	full, offer := heldBy("l~d~4-x"), heldBy("l~d~4-x")
	full.Full, offer.Offered, offer.Slot = true, true, 1
	d.do(d.Join(d.now))
	for i := range 3 {
		d.do(d.Answered(d.now, i, d.tag, full))
	}
	d.next()
	d.Offered(0, 0)
	d.do(d.Handed(d.now, 0)) // asks node 0 only
	d.fails = func() error { return errors.New("the clocks were last read long ago") }
	d.next()
	d.fails = func() error { return nil }
	d.do(d.Answered(d.now, 0, d.tag, offer)) // the late answer to the question of the hand-off
	d.do(d.Answered(d.now, 0, d.tag, full))
	d.next()
	if d.asked != 0b111 {
		t.Errorf("asks %b; want all nodes", d.asked)
	}
}

// A waiter asks nobody while a round with all nodes is open. So such a round must wait for an answer, whatever happens.
func TestAnOpenRoundWaitsForAnAnswer(t *testing.T) {
	worlds := uint64(20_000)
	if testing.Short() {
		worlds = 4_000
	}
	for seed := range worlds {
		if log := stuck(rand.New(rand.NewPCG(seed, 1))); log != "" {
			t.Fatalf("world %d: a round is open, and no node has to answer: %s", seed, log)
		}
	}
}

// stuck draws events for a bid. It returns them if they lead to an open round that waits for no answer, otherwise "".
func stuck(r *rand.Rand) string {
	c := Config{N: []int{1, 2, 3, 5}[r.IntN(4)]}
	if r.IntN(3) == 0 {
		c.Slots, c.First = 3, int16(r.IntN(3))
	}
	d := drive(c)
	d.fails = func() error {
		if r.IntN(30) == 0 {
			return context.Canceled
		}
		return nil
	}
	waits := make([][]int, d.N) // by node: the tags of the questions without an answer
	d.asks = func(node, tag int) { waits[node] = append(waits[node], tag) }
	var log []string
	note := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
	d.do(d.Join(d.now))
	for range 60 {
		d.now = d.now.Add(time.Duration(r.IntN(1000)) * time.Millisecond)
		i := r.IntN(d.N)
		switch e := r.IntN(12); {
		case e < 6 && len(waits[i]) > 0:
			k := r.IntN(len(waits[i]))
			tag := waits[i][k]
			waits[i] = append(waits[i][:k], waits[i][k+1:]...)
			a := anyAnswer(r, c.Slots > 0)
			note("node %d answers round %d: %v", i, tag, a.Verdict)
			d.do(d.Answered(d.now, i, tag, a))
		case e == 6:
			note("next")
			if turn, actions := d.Next(d.now, 100*time.Millisecond, AskEvery); !turn.Won {
				d.do(actions)
				d.do(d.AskAgain(d.now, AskEvery))
			} else {
				return ""
			}
		case e == 7:
			note("node %d wants its grant back", i)
			d.do(d.Wanted(d.now, i, d.Stamp()))
		case e == 8:
			note("node %d hands the name over", i)
			if c.Slots > 0 {
				d.Offered(i, r.IntN(3))
			}
			d.do(d.Handed(d.now, i))
		case e == 9:
			note("node %d is heard again", i)
			d.do(d.HeardAgain(d.now, i))
		case e == 10:
			note("a release")
			actions, _ := d.JoinFirst(d.now)
			d.do(actions)
		case e == 11:
			note("a pass")
			d.do(d.Passed(Passed{Owner: "l~c~3-old", Highest: d.stamp, Over: d.now.Add(time.Second), Slot: int16(r.IntN(3))}))
		}
		if d.state == open && d.whole && !d.votes.Waits() {
			return strings.Join(log, "; ")
		}
	}
	return ""
}

func anyAnswer(r *rand.Rand, slots bool) nodescript.Answer {
	full, offers := heldBy("l~d~4-x"), heldBy("l~d~9-y")
	full.Full, offers.Offered, offers.Slot = slots, slots, r.IntN(4)
	return []nodescript.Answer{
		{Verdict: nodescript.Granted}, {Verdict: nodescript.Granted}, full, offers,
		{Verdict: nodescript.Held, Owner: "l~c~5-mine", Claim: true, Left: time.Second, Rank: -1},
		{Verdict: nodescript.Stale, Seen: 1}, {Verdict: nodescript.OffClock}, {Verdict: nodescript.NotAdmitted}, {Verdict: nodescript.Corrupt},
		{Verdict: nodescript.Failed, Err: context.DeadlineExceeded}, {Verdict: nodescript.Failed, Err: node.NotSent(context.DeadlineExceeded)},
	}[r.IntN(11)]
}
