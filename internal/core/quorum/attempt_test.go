package quorum

import (
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

var (
	granted = nodescript.Answer{Verdict: nodescript.Granted}
	held    = nodescript.Answer{Verdict: nodescript.Held, Owner: "other"}
	stale   = nodescript.Answer{Verdict: nodescript.Stale, Seen: 70}
	off     = nodescript.Answer{Verdict: nodescript.OffClock}
	lostMsg = nodescript.Answer{Verdict: nodescript.Failed, Err: errors.New("connection lost")}
	refused = nodescript.Answer{Verdict: nodescript.Failed, Err: node.NotSent(errors.New("refused"))}
)

// begin starts a round that asks all nodes.
func begin(a *Attempt) int {
	round := a.Begin(a.round > 0)
	for i := range a.ballots {
		a.Ask(i)
	}
	return round
}

// answers gives the answers of a round to the attempt, in order. It returns the first outcome, and the number of
// answers until then.
func answers(a *Attempt, round int, list ...nodescript.Answer) (out Outcome, after int) {
	for i, ans := range list {
		if o := a.Answer(i, round, ans); o != Open {
			if out != Open {
				return 255, i // a second outcome is an error
			}
			out, after = o, i+1
		}
	}
	return out, after
}

func TestAnAttemptIsDecidedAsSoonAsItIsCertain(t *testing.T) {
	cases := []struct {
		name  string
		list  []nodescript.Answer
		want  Outcome
		after int
	}{
		{"three of five", []nodescript.Answer{granted, granted, granted, held, held}, Won, 3},
		{"three of five, late", []nodescript.Answer{held, granted, lostMsg, granted, granted}, Won, 5},
		{"two of five are not enough", []nodescript.Answer{granted, granted, held, refused, held}, Failed, 5},
		{"held by a majority", []nodescript.Answer{held, held, held, granted, granted}, Failed, 3},
		{"one of one", []nodescript.Answer{granted}, Won, 1},
		{"two of four are not enough", []nodescript.Answer{granted, granted, held, held}, Failed, 4},
		{"a higher stamp may have it", []nodescript.Answer{granted, stale, stale, held, stale}, Again, 4},
		{"a higher stamp cannot have it", []nodescript.Answer{held, held, granted, held, stale}, Failed, 4},
		{"late for every window", []nodescript.Answer{off, off, off, granted, granted}, Again, 3},
		{"one stale node costs nothing", []nodescript.Answer{stale, granted, granted, granted, stale}, Won, 4},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			a := NewAttempt(len(tc.list))
			out, after := answers(&a, begin(&a), tc.list...)
			if out != tc.want || after != tc.after {
				t.Errorf("outcome %d after %d answers; want %d after %d", out, after, tc.want, tc.after)
			}
		})
	}
}

// Different tokens on different nodes make no lease. Models of the protocol showed that such a lease can have two
// holders.
func TestGrantsOfAnEarlierStampDoNotCount(t *testing.T) {
	a := NewAttempt(5)
	first := begin(&a)
	a.Answer(0, first, granted)
	a.Answer(1, first, stale)
	a.Answer(2, first, stale)
	if out := a.Answer(3, first, stale); out != Again {
		t.Fatalf("outcome %d; want another round", out)
	}
	second := begin(&a)
	if out := a.Answer(1, second, granted); out != Open {
		t.Fatalf("outcome %d after one grant of the second stamp", out)
	}
	if out := a.Answer(2, second, granted); out != Open {
		t.Fatalf("outcome %d: the grant of the first stamp was counted", out)
	}
	if out := a.Answer(4, first, granted); out != Open {
		t.Fatalf("outcome %d: a late grant of the first stamp was counted", out)
	}
	if out := a.Answer(3, second, granted); out != Won {
		t.Fatalf("outcome %d after three grants of one stamp", out)
	}
}

func TestAnAttemptGivesUpAfterThreeStamps(t *testing.T) {
	a := NewAttempt(1)
	for range maxRounds - 1 {
		if out := a.Answer(0, begin(&a), stale); out != Again {
			t.Fatalf("outcome %d; want another round", out)
		}
	}
	if out := a.Answer(0, begin(&a), stale); out != Failed {
		t.Fatalf("outcome %d; want an end", out)
	}
}

func TestWhatMayHoldSomethingIsReleased(t *testing.T) {
	a := NewAttempt(5)
	r := begin(&a)
	a.Answer(0, r, granted)
	a.Answer(1, r, held)
	a.Answer(2, r, lostMsg)
	a.Answer(3, r, refused)
	want := []bool{true, false, true, false, true} // node 4 has not answered
	for i, w := range want {
		if a.Touched(i) != w {
			t.Errorf("node %d touched: %v; want %v", i, !w, w)
		}
	}
	// A grant of the first round stays a grant, no matter what the node answers in the second round.
	begin(&a)
	a.Answer(0, 2, held)
	if !a.Touched(0) {
		t.Error("the grant of an earlier round was forgotten")
	}
}

func TestRenewalOutcomes(t *testing.T) {
	yes := nodescript.Answer{Verdict: nodescript.Extended}
	rep := nodescript.Answer{Verdict: nodescript.Repaired}
	lost := nodescript.Answer{Verdict: nodescript.Lost}
	cases := []struct {
		name string
		list []nodescript.Answer
		want []Outcome // outcomes other than Open, in order
	}{
		{"majority of yes", []nodescript.Answer{yes, yes, yes, lost, lost}, []Outcome{Won}},
		{"a minority is repaired", []nodescript.Answer{yes, rep, yes, rep, yes}, []Outcome{Won}},
		{"a majority lost it", []nodescript.Answer{lost, yes, lost, yes, lost}, []Outcome{Gone}},
		{"a majority forgot it", []nodescript.Answer{rep, rep, rep, rep, rep}, []Outcome{Gone}},
		{"a majority forgot or lost it", []nodescript.Answer{rep, lost, yes, rep, yes}, []Outcome{Gone}},
		{"found out after a majority of yes", []nodescript.Answer{yes, yes, rep, rep, rep}, []Outcome{Won, Gone}},
		{"nothing known", []nodescript.Answer{yes, yes, refused, lostMsg, off}, []Outcome{Failed}},
		{"the only node forgot it", []nodescript.Answer{rep}, []Outcome{Gone}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := NewRenewal(len(tc.list), 0)
			var got []Outcome
			for _, ans := range tc.list {
				if out := r.Answer(ans); out != Open {
					got = append(got, out)
				}
			}
			if len(got) != len(tc.want) {
				t.Fatalf("outcomes %v; want %v", got, tc.want)
			}
			for i := range got {
				if got[i] != tc.want[i] {
					t.Fatalf("outcomes %v; want %v", got, tc.want)
				}
			}
		})
	}
}

func TestAnyNumberOfUnansweredQuestionsIsPending(t *testing.T) {
	a := NewAttempt(1)
	for i := range 1000 {
		a.Begin(true)
		a.Ask(0)
		if !a.Pending(0) || !a.Touched(0) {
			t.Fatalf("%d questions are not answered, and none is pending", i+1)
		}
	}
}
