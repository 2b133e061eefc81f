package bid

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

func held(owner string, left time.Duration, rank int) nodescript.Answer {
	return nodescript.Answer{Verdict: nodescript.Held, Owner: owner, Left: left, Rank: rank}
}

// The holder is the owner that most nodes name. The rank is the median.
func TestARefusalNamesTheHolderAndTheRank(t *testing.T) {
	r := Refuse([]nodescript.Answer{
		held("a", time.Second, -1), held("b", 2*time.Second, 7), held("b", 3*time.Second, 3), held("a", 5*time.Second, 4), held("b", 0, -1),
	}, nil, false)
	if owner, foreign, left := r.Holder(); owner != "b" || foreign || left != 3*time.Second {
		t.Errorf("held by %q, foreign %t, for %s", owner, foreign, left)
	}
	if rank := r.Rank(); rank != 4 {
		t.Errorf("rank %d, want 4", rank)
	}
	if rank := Refuse(make([]nodescript.Answer, 3), nil, false).Rank(); rank != -1 {
		t.Errorf("rank %d of who is in no queue", rank)
	}
}

// Nodes may name different readers of one name, and together they make the name held. The longest list names them.
func TestARefusalNamesTheReaders(t *testing.T) {
	reader := func(owner string, n int) nodescript.Answer {
		a := held(nodescript.ReaderOwner(owners[owner]), time.Second, -1)
		a.Evidence = &nodescript.Evidence{Readers: n}
		return a
	}
	bare := held(nodescript.ReaderOwner(owners["dead"]), time.Second, -1)
	r := Refuse([]nodescript.Answer{reader("older", 1), bare, reader("younger", 2)}, nil, false)
	if most := r.Readers(); r.Kind != Held || most == nil || most.Readers != 2 {
		t.Errorf("kind %d, readers %v; want held by 2", r.Kind, most)
	}
	if most := Refuse([]nodescript.Answer{held("a", 0, -1)}, nil, false).Readers(); most != nil {
		t.Errorf("an exclusive holder has the readers %v", most)
	}
}

// The age of a refusal counts from the question.
func TestTheAgeOfARefusal(t *testing.T) {
	r := &Refusal{}
	if age := r.Age(start); age != 0 {
		t.Errorf("age %s of an unknown question", age)
	}
	r.Asked = start
	if early, late := r.Age(start-1), r.Age(start+5); early != 0 || late != 5 {
		t.Errorf("ages %s and %s", early, late)
	}
}

// A majority of grants that came too late must be distinguishable from a quorum that did not answer.
func TestGrantsThatCameTooLateAreMarked(t *testing.T) {
	s := tell(t, `
		begin           : queue 012 s1
		+9s 01 granted  : wake
		2 held older    : rest`)
	r := s.m.Refused(false)
	if r.Kind != Unavailable || r.Answers[0].Cause != nodescript.TooLate || r.Answers[2].Cause == nodescript.TooLate {
		t.Errorf("%+v", r)
	}
}

// Quarantines that end make a quorum, if enough of them end.
func TestARefusalTellsWhenEnoughNodesVote(t *testing.T) {
	quarantined := func(left time.Duration) nodescript.Answer {
		return nodescript.Answer{Verdict: nodescript.Quarantined, Left: left}
	}
	none, failed := nodescript.Answer{}, nodescript.Answer{Verdict: nodescript.Failed}
	for _, c := range []struct {
		name    string
		answers []nodescript.Answer
		err     error
		votes   bool // the last node votes
		left    time.Duration
		ok      bool
	}{
		{"the second of three", []nodescript.Answer{quarantined(3), quarantined(1), quarantined(2)}, nil, false, 2, true},
		{"one, beside a node that votes", []nodescript.Answer{quarantined(3), held("a", 0, 0), failed}, nil, false, 3, true},
		{"one, beside a node that votes and has not answered", []nodescript.Answer{quarantined(3), failed, none}, nil, true, 3, true},
		{"too few", []nodescript.Answer{quarantined(3), failed, none}, nil, false, 0, false},
		{"a quorum that votes", []nodescript.Answer{quarantined(3), held("a", 0, 0), held("a", 0, 0)}, nil, false, 0, false},
		{"stamps that wait for clocks", make([]nodescript.Answer, 3), quorum.Unsettled{Left: 7}, false, 7, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if left, ok := Refuse(c.answers, c.err, false).VotesIn(func(i int) bool { return c.votes && i == 2 }); left != c.left || ok != c.ok {
				t.Errorf("%s, %t, want %s, %t", left, ok, c.left, c.ok)
			}
		})
	}
}
